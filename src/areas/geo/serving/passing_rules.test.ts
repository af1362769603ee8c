/** Who answers which request at a secondary. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passedHeaders, repositoryIn, siteFor } from './passing_rules.ts';

test('reads are served here, writes by the primary', () => {
  const sites: [string, string, string][] = [
    ['GET', '/api/v4/projects/1', 'own'],
    ['HEAD', '/api/v4/projects/1/issues?page=2', 'own'],
    ['POST', '/api/v4/projects/1/issues', 'primary'],
    ['PUT', '/api/v4/groups/a%2Fb', 'primary'],
    ['DELETE', '/api/v4/user/keys/1', 'primary'],
    ['POST', '/oauth/token', 'primary'],
    ['POST', '/api/1/envelope/', 'primary'],
    ['GET', '/-/readiness', 'own'],
    ['GET', '/api/v4/geo_nodes/current/failures', 'own'],
    ['POST', '/api/v4/geo_sites/1/repair', 'own'],
    ['POST', '/api/v4/geo_nodesx', 'primary'],
    ['GET', '/api/v4/projects/1/export_relations/status', 'primary'],
    ['GET', '/api/v4/sidekiq/job_stats', 'primary'],
    ['GET', '/group/project.git/info/refs?service=git-receive-pack', 'primary'],
    ['GET', '/group/project.git/info/refs?service=git-upload-pack', 'current'],
    ['POST', '/group/project.git/git-upload-pack', 'current'],
    ['POST', '/group/project.git/git-receive-pack', 'primary'],
    ['POST', '/group/project.git/info/lfs/objects/batch', 'own'],
    ['PUT', '/group/project.git/gitlab-lfs/objects/0a/1', 'primary'],
    ['GET', '/api/v4/projects/1/repository/commits', 'current'],
    ['POST', '/api/v4/projects/1/repository/commits', 'primary'],
    ['GET', '/group/project', 'current'],
    ['GET', '/group/project/-/tree/main', 'current'],
    ['GET', '/group/project/-/issues/1', 'own'],
    ['POST', '/group/project/-/issues/1', 'primary'],
    ['GET', '/users/sign_in', 'own'],
    ['POST', '/users/sign_in', 'primary'],
  ];
  for (const [method, url, site] of sites) assert.equal(siteFor(method, url), site, `${method} ${url}`);
});

test('the repository that an endpoint reads is found in its path', () => {
  const found = (path: string) => {
    const repository = repositoryIn(path);
    return repository && `${repository.of} ${repository.owner}`;
  };
  const named = (path: string) => found(`/api/v4${path}`);
  assert.equal(named('/projects/12/repository/tree'), 'project 12');
  assert.equal(named('/projects/a%2Fb/repository/files/c/raw'), 'project a/b');
  assert.equal(named('/projects/12/merge_requests/3/changes'), 'project 12');
  assert.equal(named('/projects/12/merge_requests/3'), undefined);
  assert.equal(named('/projects/12/wikis/home'), 'project_wiki 12');
  assert.equal(named('/groups/a%2Fb/wikis'), 'group_wiki a/b');
  assert.equal(named('/snippets/5/raw'), 'snippet 5');
  assert.equal(named('/projects/12/snippets/5/files/main/a/raw'), 'snippet 5');
  assert.equal(named('/projects/%zz/repository/tree'), undefined);
  assert.equal(found('/a/b.git/info/refs'), 'project a/b');
  assert.equal(found('/a/b.wiki.git/git-upload-pack'), 'project_wiki a/b');
  assert.equal(found('/a/b/snippets/7.git/info/refs'), 'snippet 7');
  assert.equal(found('/snippets/7.git/info/refs'), 'snippet 7');
});

test('the repository that a page reads is found in its address', () => {
  const found = (path: string) => {
    const repository = repositoryIn(path);
    return repository && `${repository.of} ${repository.owner}`;
  };
  for (const rest of [
    '',
    '/-/tree/main',
    '/-/blob/main/c/-/d',
    '/-/commits',
    '/-/commit/0a',
    '/-/compare/a...b',
    '/-/tags/1',
  ])
    assert.equal(found(`/a/b${rest}`), 'project a/b', rest);
  for (const rest of ['new', '3/diffs', '3/commits', '3.diff'])
    assert.equal(found(`/a/b/-/merge_requests/${rest}`), 'project a/b', rest);
  assert.equal(found('/a/b%20c'), 'project a/b c');
  assert.equal(found('/a/b/-/wikis/home'), 'project_wiki a/b');
  assert.equal(found('/groups/a/b/-/wikis'), 'group_wiki a/b');
  assert.equal(found('/a/b/-/snippets/5/raw'), 'snippet 5');
  assert.equal(found('/-/snippets/5'), 'snippet 5');
  for (const path of [
    '/',
    '/a',
    '/a/b/-/issues/1',
    '/a/b/-/merge_requests',
    '/a/b/-/merge_requests/3',
    '/groups/a',
    '/-/readiness',
  ])
    assert.equal(found(path), undefined, path);
});

test('headers of a single connection are not forwarded, nor are headers that identify the caller', () => {
  const headers = {
    connection: 'close, x-own',
    'x-own': '1',
    host: 'a',
    'private-token': 'b',
    'x-forwarded-for': 'c',
    range: undefined,
  };
  assert.deepEqual(passedHeaders(headers), { 'private-token': 'b' });
});
