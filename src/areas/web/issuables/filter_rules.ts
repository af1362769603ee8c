/**
 * Filters in words, such as `label:bug author:ada no:assignee -label:ux ladder`, and the query of the address that they stand for
 * (docs/reference/work_pages.md#lists).
 */
import type { Values } from '../../../http/index.ts';

/** Words before a colon, and the parameters that they stand for. */
const parameters: Readonly<Record<string, string>> = {
  label: 'labels',
  author: 'author_username',
  assignee: 'assignee_username',
  reviewer: 'reviewer_username',
  milestone: 'milestone',
  release: 'release_tag',
  weight: 'weight',
  source: 'source_branch',
  target: 'target_branch',
  draft: 'draft',
  is: 'state',
  sort: 'sort',
};

/** What a value that is missing is in the API, by the word: a user has another parameter then. */
const missing: Readonly<Record<string, readonly [parameter: string, value: string]>> = {
  label: ['labels', 'None'],
  assignee: ['assignee_id', 'None'],
  reviewer: ['reviewer_id', 'None'],
  milestone: ['milestone', 'None'],
  weight: ['weight', 'None'],
};

/** What can be excluded with a minus. */
const excludable = new Set(['label', 'author', 'assignee', 'milestone', 'release', 'weight']);
/** Users, of whom the reader can be called `me`. */
const people = new Set(['author', 'assignee', 'reviewer']);
/** Of which several can be named. */
const several = new Set(['labels', 'not[labels]']);

const states: Readonly<Record<string, string>> = { open: 'opened' };

const token = /(-?)(\w+):("[^"]*"|\S+)|\S+/g;

/**
 * The query that filters in words stand for; what is no filter is searched.
 * @param me the username of the reader
 */
export function queryOfWords(text: string, me: string | undefined): URLSearchParams {
  const query = new URLSearchParams();
  const add = (name: string, value: string) => {
    const before = query.get(name);
    query.set(name, before !== null && several.has(name) ? `${before},${value}` : value);
  };
  const words: string[] = [];
  for (const [whole, minus, word = '', quoted = ''] of text.matchAll(token)) {
    const value = quoted.replace(/^"(.*)"$/, '$1');
    if (word === 'no' && minus === '' && Object.hasOwn(missing, value)) add(...missing[value]!);
    else if (!Object.hasOwn(parameters, word) || (minus === '-' && !excludable.has(word))) words.push(whole);
    else {
      const meant = people.has(word) ? value.replace(/^@/, '') : word === 'is' ? (states[value] ?? value) : value;
      const name = minus === '-' ? `not[${parameters[word]}]` : parameters[word]!;
      add(name, people.has(word) && meant === 'me' && me !== undefined ? me : meant);
    }
  }
  if (words.length > 0) query.set('search', words.join(' '));
  return query;
}

const quotedIfNeeded = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

/** The filters of a query in words, as far as there are words for them. The state has tabs, and is left out. */
export function wordsOfQuery(query: Values): string {
  const names = Object.entries(parameters).filter(([word]) => word !== 'is' && word !== 'sort');
  const not = (typeof query.not === 'object' && query.not !== null ? query.not : {}) as Values;
  const textsIn = (values: Values, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '') return [];
    return name === 'labels' ? value.split(',') : [value];
  };
  const said = names.flatMap(([word, name]) => [
    ...textsIn(query, name).map((value) =>
      value === missing[word]?.[1] ? `no:${word}` : `${word}:${quotedIfNeeded(value)}`,
    ),
    ...textsIn(not, name).map((value) => `-${word}:${quotedIfNeeded(value)}`),
  ]);
  const absent = Object.entries(missing)
    .filter(([, [name, value]]) => name.endsWith('_id') && query[name] === value)
    .map(([word]) => `no:${word}`);
  return [...said, ...absent, ...textsIn(query, 'search')].join(' ');
}
