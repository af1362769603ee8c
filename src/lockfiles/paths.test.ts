import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unreadable } from './entries.ts';
import { waysTo } from './paths.ts';

const way = (path: string, text: string, name: string, version: string) =>
  waysTo(path, Buffer.from(text), [{ name, version }])[0];

test('the way through a lock file of npm finds packages where npm does', () => {
  const packages = {
    '': { dependencies: { press: '^1.0.0' }, devDependencies: { oven: '1' } },
    'node_modules/press': { version: '1.2.0', dependencies: { belt: '2', wheel: '1' } },
    'node_modules/press/node_modules/wheel': { version: '1.0.0', dependencies: { press: '1' } },
    'node_modules/belt': { version: '2.0.0', dependencies: { wheel: '2' } },
    'node_modules/wheel': { version: '2.0.0' },
    'node_modules/oven': { version: '1.0.0' },
    'node_modules/alone': { version: '1.0.0' },
    'parts/shed': { version: '9.0.0', dependencies: { door: '1' } },
    'node_modules/shed': { link: true, resolved: 'parts/shed' },
    'parts/shed/node_modules/door': { version: '1.0.0' },
  };
  const lock = JSON.stringify({ lockfileVersion: 3, packages });
  const npm = (name: string, version: string) => way('app/package-lock.json', lock, name, version);
  assert.deepEqual(npm('wheel', '2.0.0'), ['press 1.2.0', 'belt 2.0.0']);
  assert.deepEqual(npm('wheel', '1.0.0'), ['press 1.2.0']);
  assert.deepEqual([npm('oven', '1.0.0'), npm('door', '1.0.0')], [[], []]);
  assert.equal(npm('alone', '1.0.0'), undefined);
  assert.throws(() => way('package-lock.json', '{', 'wheel', '2.0.0'), Unreadable);
  const old = '{"lockfileVersion":1,"dependencies":{}}';
  assert.throws(() => way('package-lock.json', old, 'wheel', '2.0.0'), Unreadable);
  assert.equal(way('yarn.lock', lock, 'wheel', '2.0.0'), undefined);
});

test('lock files of Cargo and Bundler tell the way, too', () => {
  const crate = (name: string, version: string, needs: string[], source = 'source = "registry"\n') =>
    `[[package]]\nname = "${name}"\nversion = "${version}"\n${source}dependencies = ${JSON.stringify(needs)}\n`;
  const cargo = [
    'version = 4\n',
    crate('app', '0.1.0', ['press'], ''),
    crate('press', '1.2.0', ['wheel 2.0.0']),
    crate('wheel', '1.0.0', []),
    crate('wheel', '2.0.0', ['press']),
  ].join('\n');
  assert.deepEqual(way('Cargo.lock', cargo, 'wheel', '2.0.0'), ['press 1.2.0']);
  assert.equal(way('Cargo.lock', cargo, 'wheel', '1.0.0'), undefined);
  const gems = `GEM
  remote: https://gems.example/
  specs:
    belt (2.0.0)
      wheel (~> 2.0)
    press (1.2.0-x86_64-linux)
      belt
    wheel (2.0.0)

DEPENDENCIES
  press (~> 1.0)
`;
  assert.deepEqual(way('Gemfile.lock', gems, 'wheel', '2.0.0'), ['press 1.2.0', 'belt 2.0.0']);
});
