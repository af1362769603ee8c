/** Lock files of Cargo, Bundler, Composer, pub, conda and Conan, and the module files of Go. */
import { Collector, type Contents, pythonName, Unreadable } from './entries.ts';
import {
  arrayAt,
  itemsListedIn,
  itemsOf,
  jsonOf,
  memberOf,
  membersOf,
  objectAt,
  objectIn,
  textAt,
  textOf,
  tomlLockOf,
  yamlDocumentOf,
} from './formats.ts';
import { licensesIn } from './licenses.ts';
import { isRequirement, pinned } from './requirements.ts';

/** @throws Unreadable */
export function readCargo(bytes: Uint8Array): Contents {
  const packages = arrayAt(tomlLockOf(bytes), 'package');
  // The packages of the project have no source. They name others with a version only when there are several.
  const isOwn = (about: unknown) => textAt(about, 'source') === '';
  const direct = new Set(
    packages
      .filter(isOwn)
      .flatMap((about) => itemsOf(memberOf(about, 'dependencies')).map((each) => String(each).split(' (', 1)[0]!)),
  );
  const found = new Collector('cargo');
  for (const about of packages) {
    if (isOwn(about)) continue;
    const [name, version] = [textAt(about, 'name'), textAt(about, 'version')];
    found.add({ name, version, direct: direct.has(name) || direct.has(`${name} ${version}`) });
  }
  return found.contents();
}

/** @throws Unreadable */
export function readBundler(bytes: Uint8Array): Contents {
  const lines = textOf(bytes).split(/\r?\n/);
  if (!lines.some((line) => /^(?:GEM|GIT|PATH|DEPENDENCIES)$/.test(line)))
    throw new Unreadable('It is not a lock file of Bundler.');
  const sections: { title: string; line: string }[] = [];
  let title = '';
  for (const line of lines) {
    if (/^\S/.test(line)) title = line;
    else sections.push({ title, line });
  }
  const direct = new Set(
    sections.flatMap((each) => (each.title === 'DEPENDENCIES' ? (/^ {2}([^\s!]+)/.exec(each.line)?.[1] ?? []) : [])),
  );
  const found = new Collector('bundler');
  for (const each of sections) {
    if (!['GEM', 'GIT', 'PLUGIN SOURCE'].includes(each.title) || !/^ {4}\S/.test(each.line)) continue;
    // A gem for one platform has it behind its version.
    const [, name, version] = /^ {4}(\S+) \(([^\s)-]+)(?:-[^)]*)?\)$/.exec(each.line) ?? [];
    if (name && version) found.add({ name, version, direct: direct.has(name) });
    else found.unknown(each.line);
  }
  return found.contents();
}

/** @throws Unreadable */
export function readComposer(bytes: Uint8Array): Contents {
  const lock = objectIn(jsonOf(bytes));
  if (!Array.isArray(memberOf(lock, 'packages'))) throw new Unreadable('It has no list `packages`.');
  const found = new Collector('composer');
  for (const section of ['packages', 'packages-dev'])
    for (const about of arrayAt(lock, section))
      found.add({
        name: textAt(about, 'name'),
        version: textAt(about, 'version').replace(/^v(?=\d)/, ''),
        development: section === 'packages-dev',
        licenses: licensesIn(memberOf(about, 'license')),
      });
  return found.contents();
}

/** @throws Unreadable */
export function readPub(bytes: Uint8Array): Contents {
  const found = new Collector('pub');
  for (const [name, about] of Object.entries(objectAt(yamlDocumentOf(bytes), 'packages'))) {
    if (['sdk', 'path'].includes(textAt(about, 'source'))) continue;
    const kind = textAt(about, 'dependency');
    found.add({
      name,
      version: textAt(about, 'version'),
      direct: kind.startsWith('direct'),
      development: kind === 'direct dev',
    });
  }
  return found.contents();
}

/** `conda-lock.yml`. Some of its packages are installed by pip. */
export function readCondaLock(bytes: Uint8Array): Contents {
  const lock = objectIn(yamlDocumentOf(bytes));
  if (!Array.isArray(memberOf(lock, 'package'))) throw new Unreadable('It has no list `package`.');
  const found = new Collector('conda');
  for (const about of arrayAt(lock, 'package')) {
    // A list from version 3 on.
    const categories = [memberOf(about, 'category'), ...itemsOf(memberOf(about, 'categories'))].filter(
      (each) => each !== undefined,
    );
    const byPip = textAt(about, 'manager') === 'pip';
    const name = textAt(about, 'name');
    found.add({
      name: byPip ? pythonName(name) : name,
      version: textAt(about, 'version'),
      manager: byPip ? 'pip' : 'conda',
      development: categories.length > 0 && categories.every((each) => each === 'dev'),
    });
  }
  return found.contents();
}

/** `environment.yml`, as far as it names versions: `name=1.2.3=build`, and requirements of pip. */
export function readCondaEnvironment(bytes: Uint8Array): Contents {
  const found = new Collector('conda');
  for (const each of arrayAt(objectIn(yamlDocumentOf(bytes)), 'dependencies')) {
    if (typeof each === 'string') {
      const [, name, version] = /^(?:[^:\s]+::)?([\w.-]+)\s*={1,2}\s*([^\s=*,|<>]+)(?:=\S*)?$/.exec(each) ?? [];
      if (name && version) found.add({ name, version, direct: true });
    }
    if (typeof each !== 'string' && memberOf(each, 'pip') === undefined) found.unknown(JSON.stringify(each));
    for (const requirement of itemsOf(memberOf(each, 'pip'))) {
      const pin = typeof requirement === 'string' ? pinned(requirement) : undefined;
      if (pin) found.add({ ...pin, manager: 'pip', direct: true });
      else if (typeof requirement !== 'string' || !isRequirement(requirement))
        found.unknown(JSON.stringify(requirement));
    }
  }
  return found.contents();
}

/** Adds the package of a reference of Conan, `name/version@user/channel#revision%time`, which a package's own id can follow. A range is not understood. */
function addReference(found: Collector, reference: unknown, more: { direct?: boolean; development?: boolean }): void {
  const [, name, version] =
    typeof reference === 'string' ? (/^([^/@#:]+)\/([^@#%:[\]]+)(?:[@#%:]|$)/.exec(reference) ?? []) : [];
  if (name && version) found.add({ name, version, ...more });
  else found.unknown(typeof reference === 'string' ? reference : JSON.stringify(reference));
}

const conanSections = { requires: false, build_requires: true, python_requires: true, config_requires: true };

/** `conan.lock` of Conan 1, a graph, and of Conan 2, lists of references. */
export function readConan(bytes: Uint8Array): Contents {
  const lock = objectIn(jsonOf(bytes));
  if (memberOf(lock, 'graph_lock') !== undefined) return readConanGraph(lock);
  if (!Object.keys(conanSections).some((section) => memberOf(lock, section) !== undefined))
    throw new Unreadable('It is not a lock file of Conan.');
  const found = new Collector('conan');
  // A locked reference with its binaries is the first of two.
  for (const [section, development] of Object.entries(conanSections))
    for (const each of arrayAt(lock, section))
      addReference(found, Array.isArray(each) ? each[0] : each, { development });
  return found.contents();
}

/** The nodes that a node of a graph requires: a list of their keys, or in the first versions an object with the keys as values. */
const nodesRequired = (about: unknown, section: 'requires' | 'build_requires'): unknown[] => {
  const required = memberOf(about, section);
  return [...itemsOf(required), ...membersOf(required).map(([, key]) => key)];
};

function readConanGraph(lock: Record<string, unknown>): Contents {
  const nodes = Object.entries(objectAt(objectAt(lock, 'graph_lock'), 'nodes')).map(([id, about]) => ({
    id,
    about,
    reference: textAt(about, 'ref') || textAt(about, 'pref'),
  }));
  // A graph that was created for a package instead of a project has no such node.
  const project = nodes.find(
    ({ id, about, reference }) => id === '0' || (reference === '' && textAt(about, 'path') !== ''),
  );
  const direct = new Set([
    ...nodesRequired(project?.about, 'requires'),
    ...nodesRequired(project?.about, 'build_requires'),
  ]);
  const found = new Collector('conan');
  for (const { id, about, reference } of nodes) {
    for (const each of itemsListedIn(found, `${id} python_requires`, memberOf(about, 'python_requires')))
      addReference(found, each, { development: true });
    if (id === project?.id) continue;
    addReference(found, reference || { [id]: about }, {
      ...(project ? { direct: direct.has(id) } : {}),
      development: textAt(about, 'context') === 'build',
    });
  }
  return found.contents();
}

/** The lines of a block of `go.mod`, each with its directive, without comments other than `indirect`. */
function* directives(text: string): Generator<{ directive: string; words: string[]; indirect: boolean }> {
  let block = '';
  for (const raw of text.split(/\r?\n/)) {
    const [line = '', comment = ''] = raw.split('//', 2);
    const words = line
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) continue;
    if (words.at(-1) === '(') block = words[0]!;
    else if (words[0] === ')') block = '';
    else if (block === '')
      yield { directive: words[0]!, words: words.slice(1), indirect: comment.trim().startsWith('indirect') };
    else yield { directive: block, words, indirect: comment.trim().startsWith('indirect') };
  }
}

const knownDirectives = new Set([
  'module',
  'go',
  'toolchain',
  'godebug',
  'require',
  'replace',
  'exclude',
  'retract',
  'tool',
  'ignore',
]);

const unquoted = (word: string | undefined) => (word ?? '').replace(/^["`]|["`]$/g, '');

/** What a `go.mod` requires, with replacements; a replacement by a folder is part of the project. Versions keep their `v`. */
export function readGoMod(bytes: Uint8Array): Contents {
  const all = [...directives(textOf(bytes))].map((each) => ({ ...each, words: each.words.map(unquoted) }));
  if (!all.some(({ directive }) => directive === 'module')) throw new Unreadable('It names no module.');
  const replacements = new Map<string, readonly [string, string | undefined]>();
  for (const { directive, words } of all) {
    const arrow = words.indexOf('=>');
    if (directive === 'replace' && arrow > 0)
      replacements.set(words.slice(0, arrow).join(' '), [words[arrow + 1] ?? '', words[arrow + 2]]);
  }
  const excluded = new Set(all.filter(({ directive }) => directive === 'exclude').map(({ words }) => words.join(' ')));
  const found = new Collector('go');
  for (const { directive, words, indirect } of all) {
    const [name = '', version = ''] = words;
    if (!knownDirectives.has(directive)) found.unknown(directive);
    if (directive !== 'require' || excluded.has(`${name} ${version}`)) continue;
    const [newName, newVersion] = replacements.get(`${name} ${version}`) ?? replacements.get(name) ?? [name, version];
    if (newVersion !== undefined) found.add({ name: newName, version: newVersion, direct: !indirect });
  }
  return found.contents();
}

/** `go.sum`, for a module without its `go.mod`. Lines with only the checksum of a module file are not part of the build. */
export function readGoSum(bytes: Uint8Array): Contents {
  const found = new Collector('go');
  for (const line of textOf(bytes).split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const [name = '', version = '', sum] = line.trim().split(/\s+/);
    if (!sum?.startsWith('h1:')) throw new Unreadable('It is not a list of checksums.');
    if (!version.endsWith('/go.mod')) found.add({ name, version });
  }
  return found.contents();
}
