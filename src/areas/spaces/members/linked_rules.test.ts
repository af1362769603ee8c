import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByLink, countsForMore, type Standing, stepFor } from './linked_rules.ts';

const hand = { access_level: 30, member_role_id: null, expires_at: null, created_by_id: 1 };
const link = { access_level: 30, member_role_id: null, source: 'ldap', linked_by_id: 1 } as const;
const higher: ByLink = { ...link, access_level: 40 };
const byHand = { ...hand, id: 1, source: null, has_ended: false };
const byLink = { ...byHand, access_level: 40, source: 'ldap' as const, created_by_id: null };

test('the higher of both counts; of two alike the one by hand, unless it ends or a role is added', () => {
  assert.equal(countsForMore(higher, hand), true);
  assert.equal(countsForMore(link, hand), false);
  assert.equal(countsForMore(link, { ...hand, access_level: 40 }), false);
  assert.equal(countsForMore(link, { ...hand, expires_at: '2030-01-01' }), true);
  assert.equal(countsForMore({ ...link, member_role_id: 7 }, hand), true);
  assert.equal(countsForMore({ ...link, member_role_id: 7 }, { ...hand, member_role_id: 8 }), false);
});

test('each change has one step', () => {
  const step = (standing: Partial<Standing>) =>
    stepFor({ user_id: 1, held: undefined, beneath: undefined, link: undefined, ...standing });
  assert.deepEqual(step({}), { does: 'nothing' });
  assert.deepEqual(step({ link }), { does: 'link', gives: link, buries: false });
  assert.deepEqual(step({ held: byHand }), { does: 'nothing' });
  assert.deepEqual(step({ held: byHand, link }), { does: 'nothing' });
  assert.deepEqual(step({ held: byHand, link: higher }), { does: 'link', gives: higher, buries: true });
  const ended = { ...byHand, expires_at: '2020-01-01', has_ended: true };
  assert.deepEqual(step({ held: ended, link }), { does: 'link', gives: link, buries: false });
  assert.deepEqual(step({ held: ended }), { does: 'nothing' });
  assert.deepEqual(step({ held: byLink, link: higher }), { does: 'nothing' });
  assert.deepEqual(step({ held: byLink, link }), { does: 'link', gives: link, buries: false });
  assert.deepEqual(step({ held: byLink, beneath: hand, link }), { does: 'uncover', gives: hand });
  assert.deepEqual(step({ held: byLink, beneath: hand }), { does: 'uncover', gives: hand });
  assert.deepEqual(step({ held: byLink }), { does: 'remove' });
});
