import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeMessage, reviewVariables, squashMessage, type Variables, variablesOf } from './message_rules.ts';

const received = (message: string, author = 'Ada') => ({
  message,
  author_name: author,
  author_email: `${author}@example.com`,
});
const commits = [received('Dig\n'), received('Sow\n\nThe beans\nand the peas\n', 'Eve'), received('Water', 'Bob')];
const variables: Variables = {
  source_branch: 'topic',
  target_branch: 'main',
  title: 'Sow the beans',
  description: '',
  issues: '',
  reference: 'group/project!1',
  local_reference: '!1',
  source_project_id: '7',
  url: 'http://coppice.test/group/project/-/merge_requests/1',
  merged_by: 'Ada <Ada@example.com>',
  merge_request_author: 'Eve <Eve@example.com>',
  ...variablesOf(commits, 'Sow the beans', 'ada@EXAMPLE.com'),
  ...reviewVariables([
    { name: 'Eve', commit_email: 'eve@example.com', has_reviewed: false, has_approved: true },
    { name: 'Bob', commit_email: 'bob@example.com', has_reviewed: true, has_approved: true },
  ]),
};

test('the default messages contain the branches, the title and the merge request', () => {
  const usual = "Merge branch 'topic' into 'main'\n\nSow the beans\n\nSee merge request group/project!1";
  assert.equal(mergeMessage(null, variables), usual);
  assert.equal(mergeMessage('%{issues}', variables), usual, 'an empty message is none');
  assert.equal(squashMessage(null, variables), 'Sow the beans');
});

test('variables in templates are replaced, and lines that become empty are removed', () => {
  for (const [template, message] of [
    [
      '%{title} (%{local_reference})\r\n\r\n%{issues}\r\n\r\n%{url}',
      'Sow the beans (!1)\n\nhttp://coppice.test/group/project/-/merge_requests/1',
    ],
    ['%{title}\n%{description}%{unknown}', 'Sow the beans\n%{unknown}'],
    [
      '%{first_commit}: %{first_multiline_commit}\n\n%{first_multiline_commit_description}',
      'Dig: Sow\n\nThe beans\nand the peas',
    ],
    ['%{all_commits}', '* Dig\n\n* Sow\n\nThe beans\nand the peas\n\n* Water'],
    ['x\n\n%{co_authored_by}', 'x\n\nCo-authored-by: Eve <Eve@example.com>\nCo-authored-by: Bob <Bob@example.com>'],
    [
      'x\n\n%{reviewed_by}\n%{approved_by}',
      'x\n\nReviewed-by: Bob <bob@example.com>\nApproved-by: Eve <eve@example.com>\nApproved-by: Bob <bob@example.com>',
    ],
    ['%{constructor} %{title', '%{constructor} %{title'],
  ] as const)
    assert.equal(squashMessage(template, variables), message);
});
