// The module's side of the page: runs in a worker, so that a long run does not freeze what the reader sees.
"use strict";

// What asks an instance of the module: an object goes in, an object comes out.
function asker({ memory, windlass_memory, windlass_answer, windlass_free }) {
  return (request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const at = windlass_memory(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const answer = windlass_answer(at, bytes.length);
    const length = new DataView(memory.buffer).getUint32(answer, true);
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 4, length));
    windlass_free(answer);
    return JSON.parse(text);
  };
}

if (typeof WorkerGlobalScope !== "undefined") {
  let ask = null;
  addEventListener("message", async ({ data }) => {
    try {
      if (data.module) {
        ask = asker((await WebAssembly.instantiate(unpack(data.module))).instance.exports);
        postMessage({ ready: ask({ ask: "about" }) });
        return;
      }
      const began = performance.now();
      const answer = ask(data);
      postMessage({ answer, took: performance.now() - began });
    } catch (error) {
      // Its memory is in no known state: the page starts another worker.
      postMessage({ broken: error.message });
    }
  });
}
