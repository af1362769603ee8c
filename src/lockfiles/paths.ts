/** The way from what a project names itself to one of its packages, as lock files of npm, Cargo and Bundler tell. */
import {
  arrayAt,
  itemsOf,
  jsonOf,
  memberOf,
  membersOf,
  objectAt,
  objectIn,
  textAt,
  textOf,
  tomlLockOf,
} from './formats.ts';

/** A package as lock files name it. */
export interface NamedPackage {
  name: string;
  version: string;
}

/** A package with the keys of those that it needs. The project itself has no version. */
interface Package extends NamedPackage {
  needs: readonly string[];
}

interface Graph {
  /** The keys of the project, or of its parts. */
  starts: readonly string[];
  packages: ReadonlyMap<string, Package>;
}

const folder = 'node_modules/';

/** The place at which npm finds a package that another one asks for: in its own folder, or in that of one around it. */
function placeFrom(places: ReadonlyMap<string, unknown>, from: string, name: string): string | undefined {
  for (let at = from; ; ) {
    const place = at === '' ? folder + name : `${at}/${folder}${name}`;
    if (places.has(place)) return place;
    if (at === '') return undefined;
    const last = at.lastIndexOf(folder);
    at = last <= 0 ? '' : at.slice(0, last - 1);
  }
}

/** What a package of npm may need. Of the project it is also what it is developed with. */
const needed = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'] as const;

function npmGraph(bytes: Uint8Array): Graph {
  const places = new Map(membersOf(objectAt(objectIn(jsonOf(bytes)), 'packages')));
  const isOwn = (place: string) => !place.includes(folder);
  const packages = [...places].map(([place, about]): [string, Package] => {
    const names = needed.flatMap((each) => membersOf(memberOf(about, each)).map(([name]) => name));
    const found = names.flatMap((name) => placeFrom(places, place, name) ?? []);
    // A part of the project is linked to from where it would be installed.
    const linked = memberOf(about, 'link') === true ? [textAt(about, 'resolved')] : [];
    const name = textAt(about, 'name') || place.slice(place.lastIndexOf(folder) + folder.length);
    return [place, { name, version: isOwn(place) ? '' : textAt(about, 'version'), needs: [...found, ...linked] }];
  });
  return { starts: [...places.keys()].filter(isOwn), packages: new Map(packages) };
}

function cargoGraph(bytes: Uint8Array): Graph {
  const listed = arrayAt(tomlLockOf(bytes), 'package');
  const keyOf = (about: unknown) => `${textAt(about, 'name')} ${textAt(about, 'version')}`;
  const byName = new Map(listed.map((about) => [textAt(about, 'name'), keyOf(about)]));
  const isOwn = (about: unknown) => textAt(about, 'source') === '';
  const packages = listed.map((about): [string, Package] => {
    const needs = itemsOf(memberOf(about, 'dependencies')).map((each) => {
      const named = String(each).split(' (', 1)[0]!;
      return byName.get(named) ?? named;
    });
    return [
      keyOf(about),
      { name: textAt(about, 'name'), version: isOwn(about) ? '' : textAt(about, 'version'), needs },
    ];
  });
  return { starts: listed.filter(isOwn).map(keyOf), packages: new Map(packages) };
}

function bundlerGraph(bytes: Uint8Array): Graph {
  const packages = new Map<string, Package>();
  const direct: string[] = [];
  let title = '';
  let needs: string[] = [];
  for (const line of textOf(bytes).split(/\r?\n/)) {
    if (/^\S/.test(line)) title = line;
    const [, name, version] = /^ {4}(\S+) \(([^\s)-]+)(?:-[^)]*)?\)$/.exec(line) ?? [];
    if (name && version) {
      needs = [];
      packages.set(name, { name, version, needs });
    }
    const [, need] = /^ {6}([^\s!]+)/.exec(line) ?? [];
    if (need) needs.push(need);
    const [, own] = title === 'DEPENDENCIES' ? (/^ {2}([^\s!]+)/.exec(line) ?? []) : [];
    if (own) direct.push(own);
  }
  return { starts: [''], packages: packages.set('', { name: '', version: '', needs: direct }) };
}

const graphs: Readonly<Record<string, (bytes: Uint8Array) => Graph>> = {
  'package-lock.json': npmGraph,
  'npm-shrinkwrap.json': npmGraph,
  'Cargo.lock': cargoGraph,
  'Gemfile.lock': bundlerGraph,
  'gems.locked': bundlerGraph,
};

/** The packages on the shortest way, without the project and the last one. */
function shortestWay({ starts, packages }: Graph, isLast: (found: Package) => boolean): string[] | undefined {
  const before = new Map<string, string | undefined>(starts.map((start) => [start, undefined]));
  // A map goes on to what is added while it is walked through.
  for (const [key] of before) {
    const found = packages.get(key);
    if (!found) continue;
    if (isLast(found)) {
      const way: string[] = [];
      for (let at = before.get(key); at !== undefined; at = before.get(at)) {
        const { name, version } = packages.get(at)!;
        if (version !== '') way.unshift(`${name} ${version}`);
      }
      return way;
    }
    for (const need of found.needs) if (!before.has(need)) before.set(need, key);
  }
  return undefined;
}

/**
 * The packages through which a project comes to need others, the one that it names itself first, each with its version.
 * @param path of a lock file
 * @returns for each package its way; undefined in other files, and for packages that nothing in the file needs
 */
export function waysTo(path: string, bytes: Uint8Array, packages: readonly NamedPackage[]): (string[] | undefined)[] {
  const graphOf = graphs[path.slice(path.lastIndexOf('/') + 1)];
  if (!graphOf) return packages.map(() => undefined);
  const graph = graphOf(bytes);
  return packages.map(({ name, version }) =>
    shortestWay(graph, (found) => found.name === name && found.version === version),
  );
}
