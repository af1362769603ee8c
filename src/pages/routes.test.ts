import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirect } from './page.ts';
import { pageFinder } from './routes.ts';

const find = pageFinder(
  [
    '/',
    '/:id',
    '/groups/:id',
    '/groups/new',
    '/groups/:id/-/epics/:epic_iid',
    '/:id/-/issues',
    '/:id/-/issues/:issue_iid',
    '/:id/-/tree/*ref_path',
    '/-/snippets/:id',
    '/users/sign_in',
  ].map((path) => redirect(path, () => '')),
);

const found = (address: string) => {
  const page = find(address);
  return page && [page.page.path, page.params];
};

test('an address leads to the page whose pattern it has', () => {
  assert.deepEqual(found('/'), ['/', {}]);
  assert.deepEqual(found('/users/sign_in'), ['/users/sign_in', {}]);
  assert.deepEqual(found('/orchard/apple/trees'), ['/:id', { id: 'orchard/apple/trees' }]);
  assert.deepEqual(found('/orchard/trees/'), ['/:id', { id: 'orchard/trees' }]);
  assert.deepEqual(found('/groups/orchard/apple'), ['/groups/:id', { id: 'orchard/apple' }]);
  assert.deepEqual(found('/groups/orchard/apple/-/epics/3'), [
    '/groups/:id/-/epics/:epic_iid',
    { id: 'orchard/apple', epic_iid: '3' },
  ]);
  assert.deepEqual(found('/orchard/trees/-/issues/7'), [
    '/:id/-/issues/:issue_iid',
    { id: 'orchard/trees', issue_iid: '7' },
  ]);
  assert.deepEqual(found('/orchard/trees/-/tree/fix%231/a%20b/c'), [
    '/:id/-/tree/*ref_path',
    { id: 'orchard/trees', ref_path: 'fix#1/a b/c' },
  ]);
  assert.deepEqual(found('/-/snippets/4'), ['/-/snippets/:id', { id: '4' }]);
});

test('other addresses, and those that cannot be decoded, lead to none', () => {
  for (const address of ['/orchard/trees/-/nothing', '/orchard/trees/-/issues/7/8', '/%zz', '/-/snippets/4/5'])
    assert.equal(found(address), undefined, address);
});
