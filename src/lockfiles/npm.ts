/** Lock files of npm: `package-lock.json` and `npm-shrinkwrap.json`, `lockfileVersion` 1 to 3. Files of npm 4 and older have no version, and are a tree like version 1. */
import { Collector, type Contents, Unreadable } from './entries.ts';
import { jsonOf, listedIn, memberOf, membersOf, objectAt, objectIn, textAt } from './formats.ts';
import { licensesIn } from './licenses.ts';

/** @throws Unreadable */
export function readNpm(bytes: Uint8Array): Contents {
  const lock = objectIn(jsonOf(bytes));
  const isOld = memberOf(lock, 'packages') === undefined;
  if (isOld && memberOf(lock, 'lockfileVersion') === undefined && memberOf(lock, 'dependencies') === undefined)
    throw new Unreadable('It has no `lockfileVersion`.');
  return isOld ? readTree(lock) : readPackages(lock);
}

const separator = 'node_modules/';

/** The folder that a path below `node_modules` belongs to, and the name of the package: `a/node_modules/@b/c` is `a/` and `@b/c`. */
function placeOf(path: string): { folder: string; name: string } | undefined {
  const at = path.lastIndexOf(separator);
  return at < 0 ? undefined : { folder: path.slice(0, at), name: path.slice(at + separator.length) };
}

const kindsOfDependencies = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** The paths of the direct dependencies of the project and its workspaces; a package that is not beside a workspace is at the top. */
function directPaths(packages: Record<string, unknown>): Set<string> {
  const paths = new Set<string>();
  for (const [folder, about] of Object.entries(packages)) {
    if (folder.includes(separator)) continue;
    for (const kind of kindsOfDependencies)
      for (const [name] of membersOf(memberOf(about, kind))) {
        const own = `${folder === '' ? '' : `${folder}/`}${separator}${name}`;
        paths.add(Object.hasOwn(packages, own) ? own : `${separator}${name}`);
      }
  }
  return paths;
}

function readPackages(lock: Record<string, unknown>): Contents {
  const packages = objectAt(lock, 'packages');
  const direct = directPaths(packages);
  const found = new Collector('npm');
  for (const [path, about] of Object.entries(packages)) {
    const place = placeOf(path);
    if (!place || memberOf(about, 'link') === true) continue;
    // A package from git or a folder needs no version.
    if (textAt(about, 'version') === '' && /^(?:git|file)/.test(textAt(about, 'resolved'))) continue;
    found.add({
      // An alias has the name of the package that it stands for.
      name: textAt(about, 'name') || place.name,
      version: textAt(about, 'version'),
      direct: direct.has(path),
      development: memberOf(about, 'dev') === true || memberOf(about, 'devOptional') === true,
      licenses: licensesIn(memberOf(about, 'license') ?? memberOf(about, 'licenses')),
    });
  }
  return found.contents();
}

/** Version 1 nests dependencies; the tree is walked without recursion, since a file can be arbitrarily deep. */
function readTree(lock: Record<string, unknown>): Contents {
  const found = new Collector('npm');
  const left = listedIn(found, 'dependencies', memberOf(lock, 'dependencies'));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [name, about] = next;
    for (const nested of listedIn(found, `${name} dependencies`, memberOf(about, 'dependencies'))) left.push(nested);
    const version = textAt(about, 'version');
    if (/^(?:file|link):/.test(version)) continue;
    const alias = /^npm:(.+)@([^@]+)$/.exec(version);
    found.add({
      name: alias?.[1] ?? name,
      version: alias?.[2] ?? version,
      development: memberOf(about, 'dev') === true,
    });
  }
  return found.contents();
}
