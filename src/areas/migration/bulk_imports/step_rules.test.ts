import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupTrees, projectTrees } from '../relations.ts';
import { entityTypes } from './definition.ts';
import { stagesOf } from './step_rules.ts';

test('every imported relation is in exactly one stage', () => {
  const relations = { group: groupTrees, project: projectTrees };
  for (const type of entityTypes) {
    const named = stagesOf(type).flatMap(({ names }) => names);
    assert.deepEqual(
      relations[type].map(({ name }) => name).filter((name) => !named.includes(name)),
      [],
      `relations of a ${type} that no stage names`,
    );
    assert.equal(new Set(named).size, named.length, type);
  }
});
