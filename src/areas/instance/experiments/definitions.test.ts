import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { DefinitionOfExperiment, keyOf } from './definition.ts';
import { definitions } from './definitions/index.ts';

test('every definition file is one experiment named after the file, and all are listed once, by name', async () => {
  const folder = path.join(import.meta.dirname, 'definitions');
  const files = (await readdir(folder)).filter((file) => file !== 'index.ts').sort();
  assert.deepEqual(
    definitions.map(({ name }) => `${name}.ts`),
    files,
  );
  for (const file of files) {
    const name = path.basename(file, '.ts');
    const exported: Record<string, unknown> = await import(path.join(folder, file));
    assert.deepEqual(
      Object.entries(exported),
      [[name, definitions.find((definition) => definition.name === name)]],
      `${file} exports its definition, and nothing else`,
    );
  }
  const keys = definitions.map(keyOf);
  assert.deepEqual([...new Set(keys)], keys);
});

const isDefinition = Compile(DefinitionOfExperiment);

test('every definition is complete and valid', () => {
  for (const definition of definitions) {
    assert.deepEqual([...isDefinition.Errors(definition)], [], definition.name);
    assert.deepEqual(Object.keys(definition), Object.keys(DefinitionOfExperiment.properties));
  }
});

test('an incomplete or invalid definition is detected', () => {
  const [sound] = definitions;
  for (const wrong of [
    { name: 'Upper' },
    { milestone: 'soon' },
    { type: 'development' },
    { group: 'people' },
    { default_enabled: true },
    { rollout_issue_url: '' },
  ])
    assert.equal(isDefinition.Check({ ...sound, ...wrong }), false, JSON.stringify(wrong));
  assert.equal(keyOf({ name: 'tiles_experiment_percentage' }), 'tiles');
});
