/** The allowed directions of imports (docs/architecture.md). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { areaOf, districtOf, districts, type Import, imports, src } from '../support/imports.ts';

/** What each folder may import besides itself and what depends on nothing; an area is one folder in a district, which is a folder below areas/. */
const allowed: Record<string, readonly string[]> = {
  foundation: [],
  git: [],
  ssh: [],
  cron: [],
  blobs: [],
  mail: [],
  markdown: [],
  highlighting: [],
  outbound: [],
  identity_providers: ['outbound'],
  expressions: [],
  front_matter: [],
  lockfiles: [],
  ci_configuration: ['expressions'],
  advisories: ['lockfiles'],
  source_maps: [],
  archives: [],
  test_reports: [],
  state_files: [],
  security_policies: ['advisories', 'ci_configuration'],
  security_reports: ['advisories'],
  db: [],
  secrets: [],
  services: ['config.ts', 'db', 'git', 'blobs', 'identity_providers', 'mail', 'secrets'],
  jobs: ['services', 'db'],
  http: ['services', 'db', 'blobs'],
  lists: ['http', 'db'],
  access: ['http', 'services', 'db', 'git'],
  texts: ['http'],
  pages: ['access', 'http', 'texts'],
  relations: ['access', 'http', 'db'],
  fields: ['http', 'db', 'pages', 'relations'],
  areas: [
    'access',
    'http',
    'db',
    'git',
    'ssh',
    'jobs',
    'blobs',
    'mail',
    'secrets',
    'markdown',
    'highlighting',
    'cron',
    'outbound',
    'identity_providers',
    'expressions',
    'front_matter',
    'lockfiles',
    'ci_configuration',
    'advisories',
    'source_maps',
    'archives',
    'test_reports',
    'state_files',
    'security_policies',
    'security_reports',
    'texts',
    'pages',
    'relations',
    'fields',
    'lists',
    'services',
  ],
};

/** What every folder may import. */
const foundation = 'foundation';

const folderOf = (file: string) => file.split(path.sep)[0]!;
const show = ({ from, to }: Import) => `${from} imports ${to}`;

test('every folder imports only from folders below it', async () => {
  const wrong = (await imports()).filter(({ from, to }) => {
    const [folder, target] = [folderOf(from), folderOf(to)];
    return (
      folder !== target && target !== foundation && allowed[folder] !== undefined && !allowed[folder].includes(target)
    );
  });
  assert.deepEqual(wrong.map(show), []);
});

test('an area uses an area of its district by the file, and one of another district through its index.ts', async () => {
  const wrong = (await imports()).filter(({ from, to }) => {
    const [area, target] = [areaOf(from), areaOf(to)];
    if (area === undefined || target === undefined || area === target) return false;
    const isIndex = path.basename(to) === 'index.ts' && path.dirname(to) === path.join('areas', target);
    return isIndex === (districtOf(from) === districtOf(to));
  });
  assert.deepEqual(wrong.map(show), []);
});

test('a district imports only from districts below it', async () => {
  const places: readonly string[] = districts;
  const wrong = (await imports()).filter(({ from, to }) => {
    const [district, target] = [districtOf(from), districtOf(to)];
    return district !== undefined && target !== undefined && places.indexOf(target) > places.indexOf(district);
  });
  assert.deepEqual(wrong.map(show), []);
});

test('every area is in a district', async () => {
  const all = new Set(
    (await imports()).map(({ from }) => districtOf(from)).filter((district) => district !== undefined),
  );
  assert.deepEqual([...all].sort(), [...districts].sort());
});

/** One circle in a graph, as the names on it, or undefined. */
function circleIn(uses: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const circleFrom = (name: string, way: string[]): string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of uses.get(name) ?? []) {
      const circle = circleFrom(next, [...way, name]);
      if (circle) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of uses.keys()) {
    const circle = circleFrom(name, []);
    if (circle) return circle;
  }
  return undefined;
}

function graph(all: readonly Import[], nameOf: (file: string) => string | undefined): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const { from, to } of all) {
    const [user, used] = [nameOf(from), nameOf(to)];
    if (user && used && user !== used) uses.set(user, (uses.get(user) ?? new Set()).add(used));
  }
  return uses;
}

test('areas do not import each other in cycles', async () => {
  assert.deepEqual(circleIn(graph(await imports(), areaOf)), undefined);
});

test('files do not import each other in cycles', async () => {
  assert.deepEqual(circleIn(graph(await imports(), (file) => file)), undefined);
});

/** What the files of an area are called, alone or after a noun (docs/architecture.md). */
const fileNames =
  /(?:^|_)(?:routes|filters|queries|git|fields|actions|checks|present|rules|jobs|access|http|ssh|pages|views|parameters|definition|noteable|commands|kind|relation|audit|index)\.ts$/;

test('the files of an area have the names that docs/architecture.md lists', async () => {
  const files = new Set((await imports()).map(({ from }) => from).filter((file) => areaOf(file) !== undefined));
  const odd = [...files].filter((file) => !fileNames.test(path.basename(file)) && !file.includes('/definitions/'));
  assert.deepEqual(odd, []);
});

/** The folders of an area that belong together: the one of the area itself holds both what they build on and what is built of them. */
const roomOf = (file: string) => {
  const [, , , ...below] = file.split(path.sep);
  return areaOf(file) !== undefined && below.length > 1 ? path.dirname(file) : undefined;
};

test('the folders of an area do not import each other in cycles', async () => {
  assert.deepEqual(circleIn(graph(await imports(), roomOf)), undefined);
});

/** More are hard to look through. */
const mostFiles = 25;

test('no folder of an area has more files than can be looked through, without tests', async () => {
  const all = await readdir(path.join(src, 'areas'), { recursive: true });
  const files = all.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const folders = Map.groupBy(files, (file) => path.dirname(file));
  const large = [...folders]
    .filter(([, { length }]) => length > mostFiles)
    .map(([folder, { length }]) => `${folder}: ${length}`);
  assert.deepEqual(large, []);
});

/** What asks the database. Types of services are not used to ask them. */
const asksDatabase = /\.execute\(/;
/** A call of git; the names of types and of repositories are none. */
const gitImport = /import \{([^}]*)\} from '(?:\.\.\/)+git\/index\.ts'/;
const harmless = new Set(['repositoryOf', 'isValidBranchName', 'pathProblem']);

test('rules ask neither the database nor git, and queries do not run git', async () => {
  const files = new Set((await imports()).map(({ from }) => from).filter((file) => areaOf(file) !== undefined));
  const wrong: string[] = [];
  for (const file of files) {
    const [isRules, isQueries] = ['rules.ts', 'queries.ts'].map((end) => file.endsWith(end));
    if (!isRules && !isQueries) continue;
    const text = await readFile(path.join(src, file), 'utf8');
    const names = (gitImport.exec(text)?.[1] ?? '').split(',').map((name) => name.trim());
    const runsGit = names.some(
      (name) => name !== '' && !name.startsWith('type ') && !/^[A-Z]/.test(name) && !harmless.has(name),
    );
    if (runsGit || (isRules && asksDatabase.test(text))) wrong.push(file);
  }
  assert.deepEqual(wrong, []);
});

/** Packages that few calls and jobs need. Each takes memory of every process that loads it, so that only who needs one does. */
const rarelyNeeded = [
  ...['@codemirror/streamparser', '@lezer/common', '@aws-sdk/client-s3', 'jose', 'nodemailer'],
  ...['openid-client', '@node-saml/node-saml', 'ldapts'],
];

test('a server starts without loading modules that it rarely needs', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(pathToFileURL(path.join(src, 'commands/serve.ts')).href)});
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
