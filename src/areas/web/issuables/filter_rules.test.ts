import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryOfWords, wordsOfQuery } from './filter_rules.ts';

test('filters in words are the query of a list, and back again', () => {
  const query = (text: string) => Object.fromEntries(queryOfWords(text, 'ada'));
  assert.deepEqual(query('label:bug label:"good first" author:@me no:assignee -label:ux ladder is:open'), {
    labels: 'bug,good first',
    author_username: 'ada',
    assignee_id: 'None',
    'not[labels]': 'ux',
    state: 'opened',
    search: 'ladder',
  });
  // What is no filter is searched, as it was typed.
  assert.deepEqual(query('fix: http://a.example no:idea -draft:yes constructor:x'), {
    search: 'fix: http://a.example no:idea -draft:yes constructor:x',
  });
  assert.deepEqual(query(''), {});
  const words = 'label:bug label:"good first" -label:ux author:ada milestone:1.0 no:assignee ladder';
  const { 'not[labels]': labels, ...others } = query(words);
  assert.equal(wordsOfQuery({ ...others, not: { labels } }), words);
  assert.equal(wordsOfQuery({ labels: 'None', page: ['2'], not: 'x' }), 'no:label');
});
