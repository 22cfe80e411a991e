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

// Why the module has given up, in words. It can have 4 GiB, and an allocation that finds no room ends it without any.
function failure(error, memory) {
  const gigabytes = memory ? memory.buffer.byteLength / 2 ** 30 : 0;
  if (!(error instanceof WebAssembly.RuntimeError) || gigabytes < 1) return error.message;
  return `it has used ${gigabytes.toFixed(1)} of the 4 GiB that a browser gives, and needs more; ` +
    "make it shorter or with fewer flows, or run its file with the command";
}

if (typeof WorkerGlobalScope !== "undefined") {
  let ask = null;
  let memory = null;
  addEventListener("message", async ({ data }) => {
    try {
      if (data.module) {
        const { exports } = (await WebAssembly.instantiate(unpack(data.module))).instance;
        memory = exports.memory;
        ask = asker(exports);
        postMessage({ ready: ask({ ask: "about" }) });
        return;
      }
      const began = performance.now();
      const answer = ask(data);
      postMessage({ answer, took: performance.now() - began });
    } catch (error) {
      // Its memory is in no known state: the page starts another worker.
      postMessage({ broken: failure(error, memory) });
    }
  });
}
