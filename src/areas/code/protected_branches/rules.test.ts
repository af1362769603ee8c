import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultProtection, type KnownEntry, mayUnprotect, protectionBy } from './rules.ts';

const entry = (action: KnownEntry['action'], grantee: Partial<KnownEntry>): KnownEntry => ({
  action,
  access_level: null,
  user_id: null,
  group_id: null,
  is_member: false,
  ...grantee,
});
const rule = (name: string, ...entries: KnownEntry[]) => ({ name, group_id: null, allow_force_push: false, entries });
const developer = { caller: { id: 7, admin: false }, access_level: 30 };
const maintainer = { caller: { id: 8, admin: false }, access_level: 40 };
const admin = { caller: { id: 1, admin: true }, access_level: 50 };

test('levels, users and members of groups may push; without entries no one may', () => {
  const cases: [KnownEntry[], boolean, boolean, boolean][] = [
    [[], false, false, false],
    [[entry('push', { access_level: 0 })], false, false, false],
    [[entry('push', { access_level: 30 })], true, true, true],
    [[entry('push', { access_level: 40 })], false, true, true],
    [[entry('push', { access_level: 60 })], false, false, true],
    [[entry('push', { user_id: 7 })], true, false, false],
    [[entry('push', { group_id: 3, is_member: true })], true, true, true],
    [[entry('push', { group_id: 3 })], false, false, false],
    [[entry('merge', { access_level: 30 })], false, false, false],
  ];
  for (const [entries, ...expected] of cases) {
    const may = [developer, maintainer, admin].map(
      (actor) => protectionBy([rule('main', ...entries)], actor, undefined)('main').may_push,
    );
    assert.deepEqual(may, expected, JSON.stringify(entries));
  }
  const named = rule('main', entry('push', { user_id: 7 }));
  assert.equal(protectionBy([named], { ...developer, access_level: 20 }, undefined)('main').may_push, false);
  assert.equal(protectionBy([named], { caller: undefined, access_level: 0 }, undefined)('main').may_push, false);
});

test('when several protections match a branch the most permissive wins, and an unmatched branch is open', () => {
  const rules = [
    rule('*', entry('push', { access_level: 40 })),
    {
      ...rule('docs/*', entry('push', { access_level: 30 }), entry('merge', { access_level: 30 })),
      allow_force_push: true,
    },
  ];
  const protection = protectionBy(rules, developer, undefined);
  assert.deepEqual(protection('docs/a'), {
    is_protected: true,
    developers_can_push: true,
    developers_can_merge: true,
    allows_force_push: true,
    may_push: true,
    may_merge: true,
  });
  assert.deepEqual([protection('main').may_push, protection('main').allows_force_push], [false, false]);
  const open = protectionBy([rules[1]!], developer, undefined)('main');
  assert.deepEqual([open.is_protected, open.may_push, open.developers_can_push], [false, true, false]);
});

test('the level that will protect the first branch decides who may create it', () => {
  const byLevel = [0, 1, 2, 3, 4].map((level) =>
    [developer, maintainer].map((actor) => protectionBy([], actor, defaultProtection(level, null))('main').may_push),
  );
  assert.deepEqual(byLevel, [
    [true, true],
    [true, true],
    [false, true],
    [false, true],
    [true, true],
  ]);
});

test('the settings of a group beyond its level decide who may create the first branch', () => {
  const may = (own: Parameters<typeof defaultProtection>[1]) =>
    [developer, maintainer, admin].map((actor) => protectionBy([], actor, defaultProtection(2, own))('main').may_push);
  assert.deepEqual(may({ allowed_to_push: [{ access_level: 30 }] }), [true, true, true]);
  assert.deepEqual(may({ allowed_to_push: [{ access_level: 60 }] }), [false, false, true]);
  assert.deepEqual(may({ allowed_to_push: [{ access_level: 0 }] }), [false, false, false]);
  assert.deepEqual(may({ developer_can_initial_push: true, allowed_to_push: [{ access_level: 0 }] }), [
    true,
    true,
    true,
  ]);
});

test('without unprotect entries every maintainer may unprotect', () => {
  assert.equal(mayUnprotect([entry('push', { access_level: 0 })], maintainer), true);
  assert.equal(mayUnprotect([entry('unprotect', { access_level: 60 })], maintainer), false);
  assert.equal(mayUnprotect([entry('unprotect', { access_level: 60 })], admin), true);
});

test('between the protections of a project and of its group, the stricter one wins', () => {
  const own = rule('*', entry('push', { access_level: 30 }), entry('merge', { access_level: 30 }));
  const ofGroup = (access_level: number, allow_force_push: boolean) => ({
    ...rule('main', entry('push', { access_level }), entry('merge', { access_level: 30 })),
    group_id: 5,
    allow_force_push,
  });
  const may = (rules: Parameters<typeof protectionBy>[0], branch: string) => {
    const { may_push, may_merge, allows_force_push } = protectionBy(rules, developer, undefined)(branch);
    return [may_push, may_merge, allows_force_push];
  };
  const forced = { ...own, allow_force_push: true };
  assert.deepEqual(may([forced, ofGroup(40, false)], 'main'), [false, true, false]);
  assert.deepEqual(may([forced, ofGroup(30, true)], 'main'), [true, true, true]);
  assert.deepEqual(may([forced, ofGroup(40, false)], 'topic'), [true, true, true]);
  assert.deepEqual(may([ofGroup(40, true), ofGroup(30, false)], 'main'), [true, true, true], 'of one group');
});
