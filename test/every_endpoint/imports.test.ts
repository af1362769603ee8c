/** The direction of imports (docs/architecture.md): who may know whom. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const src = path.resolve(import.meta.dirname, '../../src');

/** What each folder may import besides itself; an area is one folder below areas/. */
const allowed: Record<string, readonly string[]> = {
  git: [],
  cron: [],
  blobs: [],
  mail: [],
  markdown: [],
  outbound: [],
  db: [],
  secrets: [],
  jobs: ['db', 'blobs', 'mail', 'secrets'],
  http: ['db', 'blobs', 'secrets'],
  access: ['http', 'db'],
  areas: ['access', 'http', 'db', 'git', 'jobs', 'blobs', 'mail', 'secrets', 'markdown', 'cron', 'outbound'],
};

interface Import {
  from: string;
  to: string;
}

/** Every import of one file of ours by another, as paths below src/. Tests may import what they like. */
async function imports(): Promise<Import[]> {
  const files = (await readdir(src, { recursive: true })).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const found = await Promise.all(
    files.map(async (from) => {
      const text = await readFile(path.join(src, from), 'utf8');
      return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, to]) => ({
        from,
        to: path.join(path.dirname(from), to!),
      }));
    }),
  );
  return found.flat();
}

const folderOf = (file: string) => file.split(path.sep)[0]!;
const areaOf = (file: string) =>
  folderOf(file) === 'areas' && file.split(path.sep).length > 2 ? file.split(path.sep)[1] : undefined;
const show = ({ from, to }: Import) => `${from} imports ${to}`;

test('every folder imports only what lies below it', async () => {
  const wrong = (await imports()).filter(({ from, to }) => {
    const [folder, target] = [folderOf(from), folderOf(to)];
    return folder !== target && allowed[folder] !== undefined && !allowed[folder].includes(target);
  });
  assert.deepEqual(wrong.map(show), []);
});

test('an area uses another only through its index.ts', async () => {
  const wrong = (await imports()).filter(({ from, to }) => {
    const [area, target] = [areaOf(from), areaOf(to)];
    return area !== undefined && target !== undefined && area !== target && path.basename(to) !== 'index.ts';
  });
  assert.deepEqual(wrong.map(show), []);
});

test('areas do not use each other in circles', async () => {
  const uses = new Map<string, Set<string>>();
  for (const { from, to } of await imports()) {
    const [area, target] = [areaOf(from), areaOf(to)];
    if (area && target && area !== target) uses.set(area, (uses.get(area) ?? new Set()).add(target));
  }
  const circleFrom = (area: string, way: string[]): string[] | undefined => {
    if (way.includes(area)) return [...way.slice(way.indexOf(area)), area];
    for (const next of uses.get(area) ?? []) {
      const circle = circleFrom(next, [...way, area]);
      if (circle) return circle;
    }
    return undefined;
  };
  for (const area of uses.keys()) assert.deepEqual(circleFrom(area, []), undefined);
});

/** Packages that few calls and jobs need. Each takes memory of every process that loads it, so that only who needs one does. */
const rarelyNeeded = ['jose', 'nodemailer'];

test('a server starts without what it rarely needs', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(pathToFileURL(path.join(src, 'commands/run.ts')).href)});
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const loaded: string[] = JSON.parse(stdout);
  const packages = new Set(loaded.map((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]));
  assert.ok(packages.has('fastify'));
  assert.deepEqual(
    rarelyNeeded.filter((name) => packages.has(name)),
    [],
  );
});
