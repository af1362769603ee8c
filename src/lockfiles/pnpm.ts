/** `pnpm-lock.yaml`, `lockfileVersion` 5, 6 and 9. */
import { Collector, type Contents, Unreadable } from './entries.ts';
import { listedIn, memberOf, membersOf, objectIn, textAt, yamlOf } from './formats.ts';

/** How a version of the format writes the key of a package. */
type Key = (key: string) => { name: string; version: string } | undefined;

/** `/name/1.2.3_peer@1.0.0`, with the address of another registry before it. */
const oldKey: Key = (key) => {
  const [, name, version] = /^[^/]*\/((?:@[^/]+\/)?[^/]+)\/([^/_(]+)/.exec(key) ?? [];
  return name && version ? { name, version } : undefined;
};

/** `/name@1.2.3(peer@1.0.0)`, from version 9 on without the first slash. */
const newKey: Key = (key) => {
  const [, name, version] = /^\/?((?:@[^/@]+\/)?[^/@]+)@([^()]+)/.exec(key) ?? [];
  return name && version ? { name, version } : undefined;
};

const used = ['dependencies', 'optionalDependencies'];
const all = [...used, 'devDependencies'];

/** The keys of the dependencies of an object: a version that is not a key itself is part of the key `name@version`. */
function keysOf(about: unknown, kinds: readonly string[], isOld: boolean): string[] {
  return kinds.flatMap((kind) =>
    membersOf(memberOf(about, kind)).flatMap(([name, wanted]) => {
      const version = typeof wanted === 'string' ? wanted : textAt(wanted, 'version');
      if (/^(?:link|file):/.test(version) || version === '') return [];
      return isOld ? [version, `/${name}/${version}`] : [version, `${name}@${version}`, `/${name}@${version}`];
    }),
  );
}

/** All keys reachable from the given ones. */
function reached(from: readonly string[], snapshots: ReadonlyMap<string, unknown>, isOld: boolean): Set<string> {
  const seen = new Set<string>();
  const left = [...from];
  for (let key = left.pop(); key !== undefined; key = left.pop()) {
    if (seen.has(key) || !snapshots.has(key)) continue;
    seen.add(key);
    left.push(...keysOf(snapshots.get(key), used, isOld));
  }
  return seen;
}

/** @throws Unreadable */
export function readPnpm(bytes: Uint8Array): Contents {
  const found = new Collector('pnpm');
  // pnpm 11 writes its own dependencies as a document before the document of the project.
  for (const document of yamlOf(bytes)) readDocument(objectIn(document), found);
  return found.contents();
}

function readDocument(lock: Record<string, unknown>, found: Collector): void {
  const major = Number.parseInt(textAt(lock, 'lockfileVersion'), 10);
  if (![5, 6, 7, 9].includes(major)) throw new Unreadable('Its `lockfileVersion` is not 5, 6 or 9.');
  const isOld = major === 5;
  const importers = membersOf(memberOf(lock, 'importers')).map(([, about]) => about);
  if (importers.length === 0) importers.push(lock);
  const packages = listedIn(found, 'packages', memberOf(lock, 'packages'));
  const snapshots = new Map(membersOf(memberOf(lock, 'snapshots') ?? memberOf(lock, 'packages')));
  const direct = new Set(importers.flatMap((about) => keysOf(about, all, isOld)));
  const needed = reached(
    importers.flatMap((about) => keysOf(about, used, isOld)),
    snapshots,
    isOld,
  );
  const withoutPeers = (keys: Iterable<string>) => new Set([...keys].map((key) => key.replace(/\(.*$/s, '')));
  const [directPackages, neededPackages] = [withoutPeers(direct), withoutPeers(needed)];
  for (const [key, about] of packages) {
    const read = (isOld ? oldKey : newKey)(key);
    // Packages from git and archives have their name and version as members.
    const name = textAt(about, 'name') || read?.name;
    const version = textAt(about, 'version') || read?.version;
    if (/^(?:file|link):/.test(read?.version ?? key)) continue;
    if (!name || !version) {
      found.unknown(key);
      continue;
    }
    const plain = key.replace(/\(.*$/s, '');
    found.add({ name, version, direct: directPackages.has(plain), development: !neededPackages.has(plain) });
  }
}
