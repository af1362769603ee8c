/** Files of NuGet: `packages.lock.json`, `packages.config` and project files. */
import { Collector, type Contents } from './entries.ts';
import { childrenOf, childText, jsonOf, membersOf, objectAt, objectIn, textAt, xmlOf } from './formats.ts';

/** @throws Unreadable */
export function readNugetLock(bytes: Uint8Array): Contents {
  const found = new Collector('nuget');
  for (const packages of Object.values(objectAt(objectIn(jsonOf(bytes)), 'dependencies')))
    for (const [name, about] of membersOf(packages)) {
      const type = textAt(about, 'type');
      if (type !== 'Project') found.add({ name, version: textAt(about, 'resolved'), direct: type === 'Direct' });
    }
  return found.contents();
}

/** @throws Unreadable */
export function readPackagesConfig(bytes: Uint8Array): Contents {
  const found = new Collector('nuget');
  for (const { attributes } of childrenOf(xmlOf(bytes), 'package'))
    found.add({
      name: attributes.id ?? '',
      version: attributes.version ?? '',
      development: attributes.developmentDependency === 'true',
    });
  return found.contents();
}

/** The package references of a project file that name one version. */
export function readProjectFile(bytes: Uint8Array): Contents {
  const found = new Collector('nuget');
  for (const group of childrenOf(xmlOf(bytes), 'ItemGroup'))
    for (const reference of childrenOf(group, 'PackageReference')) {
      const member = (name: string) => reference.attributes[name] ?? childText(reference, name);
      const version = member('Version').replace(/^\[([^,\]]+)\]$/, '$1');
      if (!/^\d[\w.+-]*$/.test(version)) continue;
      found.add({ name: member('Include'), version, direct: true, development: /^all$/i.test(member('PrivateAssets')) });
    }
  return found.contents();
}
