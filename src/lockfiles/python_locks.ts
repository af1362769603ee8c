/** Lock files of Python: those of Pipenv, Poetry and uv, and the lists of pip-deptree. */
import { Collector, type Contents, pythonName } from './entries.ts';
import {
  arrayAt,
  itemsOf,
  jsonOf,
  listedIn,
  listIn,
  memberOf,
  membersOf,
  objectIn,
  textAt,
  tomlOf,
} from './formats.ts';

const elsewhere = ['path', 'file', 'editable', 'git', 'hg', 'svn', 'bzr'];

/**
 * The packages of all categories, those of `default` for use and the others for development.
 * @throws Unreadable
 */
export function readPipfileLock(bytes: Uint8Array): Contents {
  const lock = objectIn(jsonOf(bytes));
  const found = new Collector('pipenv');
  for (const [category, packages] of Object.entries(lock).filter(([member]) => member !== '_meta'))
    for (const [name, about] of listedIn(found, category, packages)) {
      // What comes from a folder, an archive or a repository has no version.
      if (elsewhere.some((source) => memberOf(about, source) !== undefined)) continue;
      const [, version = ''] = /^={2,3}(.*)$/.exec(textAt(about, 'version')) ?? [];
      found.add({
        name: pythonName(name),
        version,
        // Only what the Pipfile names has an index of its own.
        direct: memberOf(about, 'index') === undefined ? null : true,
        development: category !== 'default',
      });
    }
  return found.contents();
}

/** @throws Unreadable */
export function readPoetry(bytes: Uint8Array): Contents {
  const found = new Collector('poetry');
  for (const about of arrayAt(objectIn(tomlOf(bytes)), 'package')) {
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
  const packages = arrayAt(objectIn(tomlOf(bytes)), 'package');
  const isOwn = (about: unknown) =>
    ['virtual', 'editable', 'directory'].some((kind) => memberOf(memberOf(about, 'source'), kind) !== undefined);
  const optional = (about: unknown) =>
    membersOf(memberOf(about, 'optional-dependencies')).flatMap(([, list]) => namesIn(list));
  const own = packages.filter(isOwn);
  const used = own.flatMap((about) => [...namesIn(memberOf(about, 'dependencies')), ...optional(about)]);
  const direct = new Set([
    ...used,
    ...own.flatMap((about) => membersOf(memberOf(about, 'dev-dependencies')).flatMap(([, list]) => namesIn(list))),
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

/** `pip-deptree.json`: what `pipdeptree --json` prints. */
export function readPipDeptree(bytes: Uint8Array): Contents {
  const found = new Collector('pip');
  const packages = listIn(jsonOf(bytes));
  const needed = new Set(
    packages.flatMap((each) => itemsOf(memberOf(each, 'dependencies')).map((other) => textAt(other, 'key'))),
  );
  for (const each of packages) {
    const about = memberOf(each, 'package');
    found.add({
      name: pythonName(textAt(about, 'package_name')),
      version: textAt(about, 'installed_version'),
      direct: !needed.has(textAt(about, 'key')),
    });
  }
  return found.contents();
}
