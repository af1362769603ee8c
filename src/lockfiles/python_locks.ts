/** Lock files of Python: those of Pipenv, Poetry and uv, and the lists of pip-deptree. */
import { Collector, type Contents, pythonName } from './entries.ts';
import {
  arrayAt,
  itemsListedIn,
  itemsOf,
  jsonOf,
  listedIn,
  listIn,
  memberOf,
  membersOf,
  objectIn,
  textAt,
  tomlLockOf,
} from './formats.ts';

const elsewhere = ['path', 'file', 'editable', 'git', 'hg', 'svn', 'bzr'];

/**
 * The packages of all categories; `default` is for use, the others are for development.
 * @throws Unreadable
 */
export function readPipfileLock(bytes: Uint8Array): Contents {
  const lock = objectIn(jsonOf(bytes));
  const found = new Collector('pipenv');
  for (const [category, packages] of Object.entries(lock).filter(([member]) => member !== '_meta'))
    for (const [name, about] of listedIn(found, category, packages)) {
      // A package from a folder, an archive or a repository has no version.
      if (elsewhere.some((source) => memberOf(about, source) !== undefined)) continue;
      const [, version = ''] = /^={2,3}(.*)$/.exec(textAt(about, 'version')) ?? [];
      found.add({
        name: pythonName(name),
        version,
        // Only packages that the Pipfile names have an index of their own.
        direct: memberOf(about, 'index') === undefined ? null : true,
        development: category !== 'default',
      });
    }
  return found.contents();
}

/** @throws Unreadable */
export function readPoetry(bytes: Uint8Array): Contents {
  const lock = tomlLockOf(bytes);
  const found = new Collector('poetry');
  for (const about of arrayAt(lock, 'package')) {
    if (textAt(memberOf(about, 'source'), 'type') === 'directory') continue;
    const groups = itemsOf(memberOf(about, 'groups'));
    found.add({
      name: pythonName(textAt(about, 'name')),
      version: textAt(about, 'version'),
      development: textAt(about, 'category') === 'dev' || (groups.length > 0 && !groups.includes('main')),
    });
  }
  return found.contents();
}

const namesIn = (list: unknown) => itemsOf(list).map((each) => textAt(each, 'name'));

/** @throws Unreadable */
export function readUv(bytes: Uint8Array): Contents {
  const lock = tomlLockOf(bytes);
  const packages = arrayAt(lock, 'package');
  const manifest = memberOf(lock, 'manifest');
  const isOwn = (about: unknown) =>
    ['virtual', 'editable', 'directory'].some((kind) => memberOf(memberOf(about, 'source'), kind) !== undefined);
  const groups = (about: unknown, name: string) =>
    membersOf(memberOf(about, name)).flatMap(([, list]) => namesIn(list));
  const optional = (about: unknown) => groups(about, 'optional-dependencies');
  const own = packages.filter(isOwn);
  // For a script, and a workspace whose root is not a project, the manifest lists the direct dependencies.
  const used = [
    ...namesIn(memberOf(manifest, 'requirements')),
    ...own.flatMap((about) => [...namesIn(memberOf(about, 'dependencies')), ...optional(about)]),
  ];
  const direct = new Set([
    ...used,
    ...groups(manifest, 'dependency-groups'),
    ...own.flatMap((about) => groups(about, 'dev-dependencies')),
  ]);
  const byName = Map.groupBy(packages, (about) => textAt(about, 'name'));
  const needed = new Set<string>();
  for (let name = used.pop(); name !== undefined; name = used.pop()) {
    if (needed.has(name)) continue;
    needed.add(name);
    for (const about of byName.get(name) ?? [])
      used.push(...namesIn(memberOf(about, 'dependencies')), ...optional(about));
  }
  const found = new Collector('uv');
  for (const about of packages) {
    if (isOwn(about)) continue;
    const name = textAt(about, 'name');
    found.add({
      name: pythonName(name),
      version: textAt(about, 'version'),
      direct: direct.has(name),
      development: !needed.has(name),
    });
  }
  return found.contents();
}

/** The version that pipdeptree writes for a package that is required but not installed. */
const notInstalled = '?';

/** `pip-deptree.json`: what `pipdeptree --json` prints, a list, or `pipdeptree --json-tree`, where each package contains what it depends on. */
export function readPipDeptree(bytes: Uint8Array): Contents {
  const found = new Collector('pip');
  const keyOf = (about: unknown) => textAt(about, 'key') || pythonName(textAt(about, 'package_name'));
  const top: unknown[] = [];
  const nested: unknown[] = [];
  const left = listIn(jsonOf(bytes)).map((each) => ({ each, isTop: true }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { each, isTop } = next;
    const about = memberOf(each, 'package') ?? each;
    (isTop ? top : nested).push(about);
    for (const other of itemsListedIn(found, `${keyOf(about)} dependencies`, memberOf(each, 'dependencies')))
      left.push({ each: other, isTop: false });
  }
  const needed = new Set(nested.map(keyOf));
  for (const about of [...top.reverse(), ...nested]) {
    const version = textAt(about, 'installed_version');
    if (version === notInstalled) continue;
    const name = pythonName(textAt(about, 'package_name') || textAt(about, 'key'));
    found.add({ name, version, direct: !needed.has(keyOf(about)) });
  }
  return found.contents();
}
