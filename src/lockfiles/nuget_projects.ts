/** Project files of NuGet, completed by the `Directory.Build.props` and `Directory.Packages.props` of their folder or the nearest one above. */
import { posix } from 'node:path';
import { Collector, type Contents, type ParentBytes } from './entries.ts';
import { childrenOf, childText, type Element, xmlOf } from './formats.ts';
import { interpolated } from './properties.ts';

const shared = ['Directory.Build.props', 'Directory.Packages.props'];

/** The groups of a file, also those that depend on a condition. */
function groupsIn(file: Element, name: string): Element[] {
  const branches = childrenOf(file, 'Choose').flatMap((choose) => [
    ...childrenOf(choose, 'When'),
    ...childrenOf(choose, 'Otherwise'),
  ]);
  return [file, ...branches].flatMap((place) => childrenOf(place, name));
}

/** A member of an item, which is an attribute or an element. */
const memberOf = (item: Element, name: string): string => (item.attributes[name] ?? childText(item, name)).trim();

/** The names of an item: several are separated by semicolons. */
const namesOf = (item: Element): string[] =>
  (memberOf(item, 'Include') || memberOf(item, 'Update')).split(';').flatMap((name) => name.trim() || []);

const itemsIn = (file: Element, kind: string): Element[] =>
  groupsIn(file, 'ItemGroup').flatMap((group) => childrenOf(group, kind));

/** The paths at which a shared file can be: the first one that exists counts. */
function placesOf(path: string, name: string): string[] {
  const places: string[] = [];
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    places.push(posix.join(folder, name));
    if (folder === '.') return places;
  }
}

/**
 * The properties of files by their names in lower case.
 * @param files a property of a later one wins, unless it has a condition
 */
function propertiesOf(files: readonly Element[]): Map<string, string> {
  const properties = new Map<string, string>();
  for (const property of files.flatMap((file) => groupsIn(file, 'PropertyGroup')).flatMap(({ children }) => children)) {
    const name = property.name.toLowerCase();
    if (property.attributes.Condition === undefined || !properties.has(name))
      properties.set(name, property.text.trim());
  }
  return properties;
}

/** The versions that `resolve` determines. */
type Resolve = (text: string) => string;

/** The versions that a `Directory.Packages.props` gives packages, by their names in lower case. */
function centralVersions(files: readonly Element[], resolve: Resolve): Map<string, string> {
  const items = files.flatMap((file) => itemsIn(file, 'PackageVersion'));
  return new Map(
    items.flatMap((item) =>
      namesOf(item).map((name): [string, string] => [name.toLowerCase(), resolve(memberOf(item, 'Version'))]),
    ),
  );
}

/** A version, a range of several, or a version with a star. */
const isRange = (version: string) => /^[[(].*[\])]$|\*/.test(version);

/**
 * The package references of a project file with a single version, given directly or through the shared files.
 * @param parents the shared files that were found so far; null for files that do not exist
 * @throws Unreadable
 */
export function readProjectFile(bytes: Uint8Array, path: string, parents: readonly ParentBytes[] = []): Contents {
  const project = xmlOf(bytes);
  const references = itemsIn(project, 'PackageReference');
  const needs = references.some((item) => {
    const version = memberOf(item, 'VersionOverride') || memberOf(item, 'Version');
    return version === '' || version.includes('$(');
  });
  const given = new Map(parents.map((parent) => [parent.path, parent.bytes]));
  const places = needs ? shared.map((name) => placesOf(path, name)) : [];
  const wants = places.flat().filter((place) => !given.has(place));
  const nearest = places.flatMap((each) => each.map((place) => given.get(place)).find((found) => found) ?? []);
  const files = nearest.map(xmlOf);
  const properties = propertiesOf([...files, project]);
  const resolve: Resolve = (text) =>
    interpolated(text, /\$\(([^()]+)\)/g, (name) => properties.get(name.toLowerCase())).replace(
      /^\[([^,\]]+)\]$/,
      '$1',
    );
  const central = centralVersions([...files, project], resolve);
  const found = new Collector('nuget');
  for (const item of [...references, ...files.flatMap((file) => itemsIn(file, 'GlobalPackageReference'))])
    for (const name of namesOf(item)) {
      const own = resolve(memberOf(item, 'VersionOverride') || memberOf(item, 'Version'));
      const version = own || (central.get(name.toLowerCase()) ?? '');
      if (isRange(version)) continue;
      if (/^\d[\w.+-]*$/.test(version))
        found.add({
          name,
          version,
          direct: true,
          development: item.name === 'GlobalPackageReference' || /^all$/i.test(memberOf(item, 'PrivateAssets')),
        });
      else if (wants.length === 0) found.unknown(`${name} ${version}`);
    }
  return { ...found.contents(), ...(wants.length > 0 && { wants }) };
}
