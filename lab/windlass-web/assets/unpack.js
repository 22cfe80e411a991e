// The module is packed by LZMA, a fifth smaller than by what browsers unpack themselves. The format is that of
// Igor Pavlov's LZMA specification (2015): 13 bytes that say how, then a range coder's bits.
"use strict";

// The bytes of a packed file whose head says how many they are.
function unpack(data) {
  const [LITERAL, MATCH_LEN, REP_LEN] = [7, 0, 1];
  const lc = data[0] % 9;
  const lp = Math.floor(data[0] / 9) % 5;
  const places = (1 << Math.floor(data[0] / 45)) - 1;
  const size = new DataView(data.buffer, data.byteOffset).getUint32(5, true);
  const out = new Uint8Array(size);
  const odds = (count) => new Uint16Array(count).fill(1024);

  let at = 14;
  let range = 0xffffffff;
  let code = 0;
  for (let i = 0; i < 4; i++) code = ((code << 8) | data[at++]) >>> 0;

  function refill() {
    range = (range << 8) >>> 0;
    code = ((code << 8) | data[at++]) >>> 0;
  }
  function bit(table, i) {
    const odd = table[i];
    const bound = (range >>> 11) * odd;
    let one = 0;
    if (code < bound) {
      range = bound;
      table[i] = odd + ((2048 - odd) >> 5);
    } else {
      range -= bound;
      code -= bound;
      table[i] = odd - (odd >> 5);
      one = 1;
    }
    if (range < 0x1000000) refill();
    return one;
  }
  function even(count) {
    let value = 0;
    for (; count > 0; count--) {
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code -= range;
      if (range < 0x1000000) refill();
      value = (value << 1) | one;
    }
    return value;
  }
  function tree(table, from, count) {
    let node = 1;
    for (let i = 0; i < count; i++) node = (node << 1) | bit(table, from + node);
    return node - (1 << count);
  }
  function treeFromBelow(table, from, count) {
    let node = 1;
    let value = 0;
    for (let i = 0; i < count; i++) {
      const one = bit(table, from + node);
      node = (node << 1) | one;
      value |= one << i;
    }
    return value;
  }

  const literals = odds(0x300 << (lc + lp));
  const isMatch = odds(12 << 4);
  const isRep = odds(12);
  const isOther = odds(12);
  const isThird = odds(12);
  const isFourth = odds(12);
  const isLong = odds(12 << 4);
  const slots = odds(4 << 6);
  const near = odds(128);
  const low = odds(16);
  const lengths = [MATCH_LEN, REP_LEN].map(() => ({ choice: odds(2), short: odds(16 << 3), middle: odds(16 << 3), long: odds(256) }));
  function length({ choice, short, middle, long }, place) {
    if (!bit(choice, 0)) return 2 + tree(short, place << 3, 3);
    if (!bit(choice, 1)) return 10 + tree(middle, place << 3, 3);
    return 18 + tree(long, 0, 8);
  }
  function distance(len) {
    const slot = tree(slots, Math.min(len - 2, 3) << 6, 6);
    if (slot < 4) return slot;
    const more = (slot >> 1) - 1;
    const base = ((2 | (slot & 1)) << more) >>> 0;
    if (slot < 14) return base + treeFromBelow(near, base - slot, more);
    return base + even(more - 4) * 16 + treeFromBelow(low, 0, 4);
  }
  function literal(n, state, back) {
    const before = n > 0 ? out[n - 1] : 0;
    const from = 0x300 * (((n & ((1 << lp) - 1)) << lc) | (before >> (8 - lc)));
    let node = 1;
    if (state >= LITERAL) {
      let likely = out[n - back - 1];
      while (node < 0x100) {
        const expected = (likely >> 7) & 1;
        likely <<= 1;
        const one = bit(literals, from + ((1 + expected) << 8) + node);
        node = (node << 1) | one;
        if (one !== expected) break;
      }
    }
    while (node < 0x100) node = (node << 1) | bit(literals, from + node);
    return node & 0xff;
  }

  let state = 0;
  let recent = [0, 0, 0, 0];
  for (let n = 0; n < size;) {
    const place = n & places;
    if (!bit(isMatch, (state << 4) | place)) {
      out[n] = literal(n, state, recent[0]);
      n++;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let len = 1;
    if (!bit(isRep, state)) {
      len = length(lengths[MATCH_LEN], place);
      recent = [distance(len), recent[0], recent[1], recent[2]];
      state = state < LITERAL ? 7 : 10;
    } else {
      let which = 0;
      if (bit(isOther, state)) which = !bit(isThird, state) ? 1 : !bit(isFourth, state) ? 2 : 3;
      if (which > 0 || bit(isLong, (state << 4) | place)) {
        recent = [recent[which], ...recent.filter((_, i) => i !== which)];
        len = length(lengths[REP_LEN], place);
        state = state < LITERAL ? 8 : 11;
      } else {
        state = state < LITERAL ? 9 : 11;
      }
    }
    if (recent[0] >= n) throw new Error("the packed module is broken");
    for (; len > 0 && n < size; len--, n++) out[n] = out[n - recent[0] - 1];
  }
  return out;
}
