// Compares two PNG files with Telltale, with pixelmatch and with odiff, in turn and in one run, and
// prints the medians and their ratios. Each tool reads both files, compares them and writes the
// drawing; pixelmatch is also measured without reading and writing, in a process that is warm.
// Without files, two generated pages of 1280 x 8000 pixels are compared. README.md has the commands.
//
//   node benches/snapshots/compare.mjs <packages> <program> [<baseline.png> <snapshot.png> [rounds]]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, program, ...files] = process.argv.slice(2);
const rounds = Number(files[2] ?? 9);
const require = createRequire(pathToFileURL(`${resolve(folder)}/package.json`));
const pixelmatch = (await import(pathToFileURL(require.resolve('pixelmatch')))).default;
const { PNG } = require('pngjs');
const odiff = join(resolve(folder), 'node_modules/odiff-bin/bin/odiff');
const drawings = mkdtempSync(join(tmpdir(), 'compare-'));
const drawing = join(drawings, 'drawing.png');
const [baseline, snapshot] = files.length > 1 ? files : generated();

function generated() {
    const pages = ['baseline', 'snapshot'].map((name) => join(drawings, `${name}.png`));
    execFileSync(program, ['pages', ...pages]);
    return pages;
}

function ours() {
    const arguments_ = [baseline, snapshot, drawing, '1'];
    return JSON.parse(execFileSync(program, arguments_, { encoding: 'utf8' }));
}

// A process of its own, as odiff is one.
function oursAsProcess() {
    const start = performance.now();
    execFileSync(program, [baseline, snapshot, drawing, 'once']);
    return performance.now() - start;
}

function odiffAsProcess() {
    const start = performance.now();
    const options = ['--antialiasing', '--parsable-stdout'];
    const run = spawnSync(odiff, [baseline, snapshot, drawing, ...options]);
    const all = performance.now() - start;
    if (run.status !== 0 && run.status !== 22) throw new Error(String(run.stderr));
    return { all, count: Number(String(run.stdout).split(';')[0]) };
}

function npm() {
    const start = performance.now();
    const [first, second] = [baseline, snapshot].map((path) => PNG.sync.read(readFileSync(path)));
    const { width, height } = first;
    const output = new PNG({ width, height });
    const decoded = performance.now();
    const count = pixelmatch(first.data, second.data, output.data, width, height);
    const compared = performance.now();
    writeFileSync(drawing, PNG.sync.write(output));
    const all = performance.now() - start;
    return { diff: compared - decoded, decode_and_diff: compared - start, all, count };
}

const results = { ours: [], process: [], npm: [], odiff: [] };
for (let round = 0; round <= rounds; round++) {
    const found = {
        ours: ours(),
        process: { all: oursAsProcess() },
        npm: npm(),
        odiff: odiffAsProcess(),
    };
    if (found.ours.count !== found.npm.count) throw new Error(JSON.stringify(found));
    // The first round warms caches and compilers.
    if (round > 0) Object.keys(results).forEach((tool) => results[tool].push(found[tool]));
}
rmSync(drawings, { recursive: true });

const median = (tool, part) => {
    const times = results[tool].map((result) => result[part]).sort((a, b) => a - b);
    return times[times.length >> 1];
};
const row = (what, mine, theirs) => {
    const ratio = (theirs / mine).toFixed(1);
    console.log(`${what}: ${mine.toFixed(1)} ms, ${theirs.toFixed(1)} ms, ${ratio} x`);
};
const against = (what, part) => row(`${what}, pixelmatch`, median('ours', part), median('npm', part));
console.log(`differing pixels: ${results.ours[0].count}; odiff: ${results.odiff[0].count}`);
against('difference', 'diff');
against('decode and difference', 'decode_and_diff');
against('decode, difference and drawing', 'all');
row('the same as a process, odiff', median('process', 'all'), median('odiff', 'all'));
