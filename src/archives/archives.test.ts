import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createGzip, gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { isLong } from '../../test/support/runs.ts';
import {
  InvalidContent,
  type Json,
  LimitExceeded,
  type Line,
  linesOf,
  readJson,
  type TarEntry,
  tarEntries,
} from './index.ts';
import { portionsOf } from './portions.ts';

const most_bytes = 100_000_000;

async function* pieces(bytes: Uint8Array, size_bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size_bytes) yield bytes.subarray(at, at + size_bytes);
}

async function linesIn(bytes: Uint8Array, options = {}): Promise<(string | undefined)[]> {
  const lines: Line[] = [];
  for await (const line of linesOf(pieces(bytes, 7), { most_bytes, ...options })) lines.push(line);
  return lines.map(({ bytes: line }) => line?.toString());
}

test('lines come one by one, from any number on, with or without a line feed at the end', async () => {
  assert.deepEqual(await linesIn(gzipSync('{"a":1}\n\n{"b":"ä"}\n')), ['{"a":1}', '', '{"b":"ä"}']);
  assert.deepEqual(await linesIn(gzipSync('one\ntwo\nthree'), { from: 2 }), ['two', 'three']);
  assert.deepEqual(await linesIn(gzipSync('')), []);
});

test('what is no gzip, empty, broken off or larger than allowed is an error', async () => {
  const whole = gzipSync('a line\n'.repeat(1000));
  for (const bytes of [Buffer.from('no gzip at all'), Buffer.alloc(0), whole.subarray(0, -9), whole.subarray(0, 12)])
    await assert.rejects(linesIn(bytes), InvalidContent);
  await assert.rejects(linesIn(whole, { most_bytes: 6999 }), LimitExceeded);
  assert.equal((await linesIn(whole, { most_bytes: 7000 })).length, 1000);
});

test('an error of the source stays what it is', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield gzipSync('a line\n').subarray(0, 10);
    throw new RangeError('gone');
  }
  await assert.rejects(linesOf(failing(), { most_bytes }).next(), RangeError);
});

test('a line of 300 MB is skipped without being kept, and the next one is read', async () => {
  const zip = createGzip({ level: 1 });
  const zeros = Buffer.alloc(2 ** 20);
  const content = async function* () {
    yield 'first\n';
    for (let count = 0; count < 300; count++) yield zeros;
    yield '\nlast\n';
  };
  const before = process.memoryUsage().rss;
  let most = 0;
  const lines: (string | undefined)[] = [];
  for await (const { bytes } of linesOf(Readable.from(content()).pipe(zip), { most_bytes: 2 ** 31 })) {
    most = Math.max(most, process.memoryUsage().rss - before);
    lines.push(bytes?.toString());
  }
  assert.deepEqual(lines, ['first', undefined, 'last']);
  assert.ok(most < 200_000_000, `${most} bytes`);
});

const read = (text: string) => readJson(Buffer.from(text), 1);
const padding = `,"z":"${'z'.repeat(70_000)}"`;

test('names that change what an object is are dropped, however they are written', async () => {
  const hostile = '{"__proto__":{"admin":true},"a":[{"\\u005f_proto__":1,"constructor":{"prototype":{}},"b":1}]';
  for (const text of [`${hostile}}`, `${hostile}${padding}}`]) {
    const value = (await read(text)) as Record<string, unknown>;
    assert.deepEqual(value.a, [{ b: 1 }]);
    assert.deepEqual(
      Object.getOwnPropertyNames(value).filter((name) => name !== 'z'),
      ['a'],
    );
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  }
});

test('64 levels are read, 65 are not, and text that is no JSON is refused', async () => {
  const nested = (levels: number, more = '') => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}${more}}`;
  for (const more of ['', padding]) {
    await read(nested(64, more));
    await assert.rejects(read(nested(65, more)), LimitExceeded);
    await assert.rejects(read(nested(64, more).slice(0, -1)), InvalidContent);
  }
  await assert.rejects(read('['.repeat(10_000_000)), LimitExceeded);
});

function largeValues(): Json[] {
  const note = (id: number) => ({
    note: `Note ${id}`,
    author: { name: 'A' },
    reactions: id % 7 ? [] : [{ name: 'star' }],
  });
  return [
    {
      title: 'a',
      notes: Array.from({ length: 30_000 }, (_, id) => note(id)),
      deep: { er: { list: new Array(50_000).fill(null) } },
    },
    Object.fromEntries(Array.from({ length: 30_000 }, (_, id) => [`member ${id}`, [id]])),
    [[new Array(30_000).fill(1), 2], 'ä😀'.repeat(500_000), {}, [], new Array(12_000).fill([])],
    'ä'.repeat(100_000),
  ];
}

test('a large value arrives as it was, whatever its form', async () => {
  for (const value of largeValues()) assert.deepEqual(await read(JSON.stringify(value)), value);
});

test('what is put together again comes in small portions, and what would break the parser is refused', async () => {
  const most = 50_000_000;
  const text = 'x'.repeat(most / 10);
  for (const value of [...largeValues(), { a: [{ text }, text] }])
    for (const portion of portionsOf({ value })) assert.ok(JSON.stringify(portion).length < 700_000);
  for (const hostile of [`[${'[],'.repeat(most / 4)}0]`, `{"a":[${'1,'.repeat(most / 2)}1]}`])
    await assert.rejects(read(hostile), LimitExceeded);
});

interface Odd extends Partial<Header> {
  name: string;
  content?: string;
}

async function archiveOf(entries: readonly Odd[]): Promise<Buffer> {
  const tar = pack();
  for (const { content = '', ...header } of entries) tar.entry(header, content);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as unknown as AsyncIterable<Buffer>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}

const uploadName = /^[0-9a-f]{32}\/[^/]+$/;
const secret = '0123456789abcdef'.repeat(2);

async function entriesIn(bytes: Uint8Array, reads = true): Promise<[string, string | undefined][]> {
  const found: [string, string | undefined][] = [];
  const entries = tarEntries(pieces(bytes, 1000), { most_bytes, isWanted: (name) => uploadName.test(name) });
  for await (const entry of entries) found.push([entry.name, await textOf(entry, reads)]);
  return found;
}

async function textOf(entry: TarEntry, reads: boolean): Promise<string | undefined> {
  if ('problem' in entry) return entry.problem;
  if (!reads) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of entry.content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('of an archive only regular files with expected names have a content', async () => {
  const long = `${secret}/${'ä'.repeat(120)}.txt`;
  const archive = await archiveOf([
    { name: `${secret}/a.txt`, content: 'apple' },
    { name: long, content: 'b'.repeat(1025) },
    { name: `${secret}/link`, type: 'symlink', linkname: '/etc/passwd' },
    { name: `${secret}/hard`, type: 'link', linkname: '/etc/passwd' },
    { name: `${secret}/device`, type: 'character-device' },
    { name: `${secret}/pipe`, type: 'fifo' },
    { name: `${secret}/folder/`, type: 'directory' },
    { name: '/etc/passwd', content: 'x' },
    { name: `${secret}/..`, content: 'x' },
    { name: '../x', content: 'x' },
    { name: `${secret}/z.txt`, content: 'last' },
  ]);
  const file = 'not a regular file';
  const problems = ['link', 'hard', 'device', 'pipe', 'folder/'].map((name) => [`${secret}/${name}`, file]);
  const names = ['/etc/passwd', `${secret}/..`, '../x'].map((name) => [name, 'unexpected name']);
  const expected = [
    [`${secret}/a.txt`, 'apple'],
    [long, 'b'.repeat(1025)],
    ...problems,
    ...names,
    [`${secret}/z.txt`, 'last'],
  ];
  assert.deepEqual(await entriesIn(archive), expected);
  const unread = expected.map(([name, text]) => [
    name,
    problems.concat(names).some(([other]) => other === name) ? text : undefined,
  ]);
  assert.deepEqual(await entriesIn(archive, false), unread);
});

/** A block of a header, with its checksum. */
function header(name: string, type: string, size: string): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0);
  block.write(size, 124, 'latin1');
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\0', 257);
  block.write(`${block.reduce((sum, byte) => sum + byte, 0).toString(8)}\0`, 148);
  return block;
}
const padded = (text: string) => Buffer.concat([Buffer.from(text), Buffer.alloc(-text.length & 511)]);

test('sizes that lie and headers that are too large or damaged are errors', async () => {
  const file = `${secret}/a`;
  const archives: [Buffer[], typeof InvalidContent | typeof LimitExceeded][] = [
    [[header(file, '0', '00000002000'), padded('short')], InvalidContent],
    [[header(file, '0', '\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff')], InvalidContent],
    [[header(file, '0', 'lots')], InvalidContent],
    [[header('x', 'x', '00000000020'), padded('12 size=-1000000')], InvalidContent],
    [[header('x', 'x', '00000000020'), padded('99999 path=hello')], InvalidContent],
    [[header('x', 'x', '77777777777')], LimitExceeded],
    [[header('x', 'L', '77777777777')], LimitExceeded],
    [[Buffer.from('no archive'.repeat(100))], InvalidContent],
    [[header(file, '0', '00000000001').subarray(0, 300)], InvalidContent],
  ];
  for (const [blocks, kind] of archives) await assert.rejects(entriesIn(gzipSync(Buffer.concat(blocks))), kind);
});

if (isLong)
  test('an archive has at most 1,000,000 entries', async () => {
    const block = header('a', '2', '0');
    async function* many(): AsyncGenerator<Buffer> {
      for (let count = 0; count < 1001; count++) yield Buffer.alloc(block.length * 1000, block);
    }
    const counting = async () => {
      let count = 0;
      const entries = tarEntries(Readable.from(many()).pipe(createGzip({ level: 1 })), {
        most_bytes: 2 ** 30,
        isWanted: () => true,
      });
      for await (const _ of entries) count++;
      return count;
    };
    await assert.rejects(counting(), LimitExceeded);
  });
