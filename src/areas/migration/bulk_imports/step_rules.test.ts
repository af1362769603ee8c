import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupTrees, projectTrees } from '../relations.ts';
import { entityTypes } from './definition.ts';
import { stepsOfType } from './step_rules.ts';

test('every imported relation is read by one step', () => {
  const relations = { group: groupTrees, project: projectTrees };
  for (const type of entityTypes) {
    const named = stepsOfType(type).map(({ name }) => name);
    assert.deepEqual(
      relations[type].map(({ name }) => name).filter((name) => !named.includes(name)),
      [],
      `relations of a ${type} that no step reads`,
    );
  }
});
