import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilitiesIn, lacksAbility } from './ability_rules.ts';

const plain = { allow_failure: false, is_for_merge_request: false, uploads: [] };
const [zip, raw] = [{ artifact_format: 'zip' }, { artifact_format: 'raw' }];

test('a job needs only the abilities that it uses', () => {
  const cases = [
    [plain, undefined],
    [{ ...plain, uploads: [zip] }, undefined],
    [{ ...plain, allow_failure: true }, undefined],
    [{ ...plain, allow_failure: { exit_codes: [1] } }, 'return_exit_code'],
    [{ ...plain, is_for_merge_request: true }, 'refspecs'],
    [{ ...plain, uploads: [zip, zip] }, 'upload_multiple_artifacts'],
    [{ ...plain, uploads: [raw] }, 'upload_raw_artifacts'],
  ] as const;
  for (const [job, needed] of cases) {
    assert.equal(lacksAbility({}, job), needed !== undefined, needed);
    if (needed !== undefined) assert.equal(lacksAbility({ [needed]: true }, job), false, needed);
    if (needed !== undefined) assert.equal(lacksAbility({ [needed]: 'true' }, job), true, needed);
  }
});

test('what a runner says is read whatever it is', () => {
  for (const info of [undefined, null, 'x', [], { features: null }, { features: 'all' }])
    assert.deepEqual(abilitiesIn(info), {});
  assert.deepEqual(abilitiesIn({ features: { refspecs: true } }), { refspecs: true });
});
