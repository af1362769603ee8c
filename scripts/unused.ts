// Part of `npm run check`: finds exports that nothing imports, and exports of the product that only tests use.
// Our imports and exports have one form, which the formatter keeps, so that reading lines is enough.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const top = path.resolve(import.meta.dirname, '..');

interface Name {
  name: string;
  /** A function, class or value, as opposed to a type. */
  isValue: boolean;
}
/** `export { name as alias } from file`, and with `alias` left out an import. */
interface Passage extends Name {
  file: string;
  alias?: string;
}
interface Source {
  file: string;
  isTest: boolean;
  declared: Name[];
  passedOn: Passage[];
  imported: Passage[];
  code: string;
}

const everything = '*';
const declaration =
  /^export (?:abstract )?(?:async )?(?:(function\*?|const|let|class|interface|type) (\w+)|const [{[]([^}\]]*)[}\]] =)/gm;
const passage = /^(import|export)( type)?(?: (\*)(?: as \w+)?| (?:\w+, )?\{([^}]*)\}) from '(\.[^']+)'/gm;
const dynamic = /import\('(\.[^']+)'\)/g;
const list = /^export( type)? \{([^}]*)\};/gm;

const isInTests = (file: string) => file.startsWith('test/') || file.endsWith('.test.ts');

/** `a, type B, c as d` */
function namesIn(text: string, areTypes: boolean): { name: string; alias: string; isValue: boolean }[] {
  return [...text.matchAll(/(type )?(\w+)(?:(?: as|:) (\w+))?/g)].map(([, type, name, alias]) => ({
    name: name!,
    alias: alias ?? name!,
    isValue: !areTypes && type === undefined,
  }));
}

function read(file: string): Source {
  const text = readFileSync(path.join(top, file), 'utf8');
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const source: Source = {
    file,
    isTest: isInTests(file),
    declared: [],
    passedOn: [],
    imported: [],
    code,
  };
  const target = (given: string) => path.join(path.dirname(file), given);
  for (const [, kind, name, several] of code.matchAll(declaration)) {
    const isValue = kind !== 'interface' && kind !== 'type';
    const names = name === undefined ? namesIn(several!, false).map(({ alias }) => alias) : [name];
    source.declared.push(...names.map((each) => ({ name: each, isValue })));
  }
  for (const [, type, names] of code.matchAll(list))
    source.declared.push(
      ...namesIn(names!, type !== undefined).map(({ alias, isValue }) => ({ name: alias, isValue })),
    );
  for (const [, kind, type, star, names, from] of code.matchAll(passage)) {
    const found = star ? [{ name: everything, alias: everything, isValue: true }] : namesIn(names!, type !== undefined);
    (kind === 'import' ? source.imported : source.passedOn).push(
      ...found.map((each) => ({ ...each, file: target(from!) })),
    );
  }
  for (const [, from] of code.matchAll(dynamic))
    source.imported.push({ name: everything, isValue: true, file: target(from!) });
  return source;
}

const sources = new Map(
  globSync(['src/**/*.ts', 'assets/*.js', 'test/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts'], { cwd: top }).map(
    (file) => [file, read(file)],
  ),
);
// What a script works with is not there for tests alone.
for (const { file, imported } of sources.values())
  if (file.startsWith('scripts/')) for (const { file: target } of imported) sources.get(target)!.isTest = false;

/** By file and name: whether anything imports it, and whether something does that is no test. */
const uses = new Map<string, { byProduct: boolean }>();

/** Follows a name through the files that pass it on. */
function use(file: string, name: string, byProduct: boolean): void {
  const key = `${file} ${name}`;
  const known = uses.get(key);
  if (known && (known.byProduct || !byProduct)) return;
  uses.set(key, { byProduct });
  const source = sources.get(file);
  if (source === undefined) return;
  if (name === everything) for (const { name } of source.declared) use(file, name, byProduct);
  for (const { alias, name: original, file: from } of source.passedOn) {
    if (alias === everything) use(from, name, byProduct);
    else if (alias === name) use(from, original, byProduct);
    else if (name === everything) use(file, alias!, byProduct);
  }
}

// What browsers load is imported by pages.
for (const file of sources.keys()) if (file.startsWith('assets/')) use(file, everything, true);
for (const { imported, isTest } of sources.values()) for (const { file, name } of imported) use(file, name, !isTest);

const occursAgain = ({ code }: Source, name: string) => [...code.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 1;

function faultsOf(source: Source): string[] {
  const { file, declared, passedOn } = source;
  const faults: string[] = [];
  for (const { alias } of passedOn)
    if (alias !== everything && !uses.has(`${file} ${alias}`))
      faults.push(`${file}: nothing imports ${alias} from here`);
  for (const { name, isValue } of declared) {
    const isUsedHere = occursAgain(source, name);
    const used = uses.get(`${file} ${name}`);
    if (used === undefined && !isUsedHere) faults.push(`${file}: nothing uses ${name}`);
    else if (used === undefined && isValue) faults.push(`${file}: ${name} is used here alone; do not export it`);
    else if (!isInTests(file) && used?.byProduct === false && !isUsedHere)
      faults.push(`${file}: only tests use ${name}`);
  }
  return faults;
}

const faults = [...sources.values()].flatMap(faultsOf);
if (faults.length > 0) {
  console.error(faults.sort().join('\n'));
  process.exit(1);
}
