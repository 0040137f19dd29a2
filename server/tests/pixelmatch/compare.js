// Compares pictures with pixelmatch. Each case of the input file has the width and the height
// (u32), the threshold (f64) and the bytes of both pictures; each result has the number of
// differing pixels (u32) and the bytes of the drawing. Numbers are little-endian.
//
// Arguments: the input file and the output file.

const { readFileSync, writeFileSync } = require("node:fs");

async function main([input, output]) {
  const { default: pixelmatch } = await import("pixelmatch");
  const cases = readFileSync(input);
  const results = [];
  let at = 0;
  const take = (bytes) => new Uint8Array(cases.subarray(at, (at += bytes)));
  while (at < cases.length) {
    const width = cases.readUInt32LE(at);
    const height = cases.readUInt32LE(at + 4);
    const threshold = cases.readDoubleLE(at + 8);
    at += 16;
    const bytes = width * height * 4;
    const [baseline, snapshot] = [take(bytes), take(bytes)];
    const drawing = new Uint8Array(bytes);
    const count = Buffer.alloc(4);
    count.writeUInt32LE(pixelmatch(baseline, snapshot, drawing, width, height, { threshold }));
    results.push(count, drawing);
  }
  writeFileSync(output, Buffer.concat(results));
}

main(process.argv.slice(1));
