/** package-lock.json: `npm ci` accepts it on every platform, installs exactly what was locked, and runs no package's script. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

interface Locked {
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const top = path.resolve(import.meta.dirname, '../..');
const read = async (file: string) => JSON.parse(await readFile(path.join(top, file), 'utf8'));
const { packages } = (await read('package-lock.json')) as { packages: Record<string, Locked> };
const { allowScripts } = (await read('package.json')) as { allowScripts: Record<string, boolean> };
const installed = Object.entries(packages).filter(([place]) => place !== '');

/** Whether a package finds another: in its own folder, or in that of one around it. */
function finds(place: string, name: string): boolean {
  const around = place.lastIndexOf('/node_modules/');
  const parent = around === -1 ? '' : place.slice(0, around);
  return `${place && `${place}/`}node_modules/${name}` in packages || (place !== '' && finds(parent, name));
}

test('every package is locked by its integrity hash, without a registry URL', () => {
  assert.deepEqual(
    installed
      .filter(([, { integrity, resolved }]) => integrity === undefined || resolved !== undefined)
      .map(([place]) => place),
    [],
  );
});

test('every dependency of a package is locked, also for other platforms', () => {
  const missing = Object.entries(packages).flatMap(([place, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !finds(place, name))
      .map((name) => `${name} of ${place}`),
  );
  assert.deepEqual(missing, []);
});

test('no package needs its install script', () => {
  const scripted = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([place]) => place.slice('node_modules/'.length));
  assert.deepEqual(scripted.sort(), Object.keys(allowScripts).sort());
  assert.ok(Object.values(allowScripts).every((allowed) => !allowed));
});
