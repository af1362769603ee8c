/** Files of NuGet: `packages.lock.json` and `packages.config`. */
import { Collector, type Contents } from './entries.ts';
import { childrenOf, jsonOf, listedIn, objectAt, objectIn, textAt, xmlOf } from './formats.ts';

/** @throws Unreadable */
export function readNugetLock(bytes: Uint8Array): Contents {
  const found = new Collector('nuget');
  for (const [framework, packages] of Object.entries(objectAt(objectIn(jsonOf(bytes)), 'dependencies')))
    for (const [name, about] of listedIn(found, framework, packages)) {
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
