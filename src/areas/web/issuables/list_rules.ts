/** The parameters of a list, from the address of its page. */
import type { Values } from '../../../http/index.ts';
import { type Field, type Redirect, redirect, type Seen, textIn, withQuery } from '../../../pages/index.ts';
import { queryOfWords } from './filter_rules.ts';

/** Where a list is: in a project, in a group, or of everything that the reader may see. */
export type ListPlace = 'project' | 'group' | 'dashboard';

/** The start of the addresses of lists. */
export const listStarts = { project: '/:id/-', group: '/groups/:id/-', dashboard: '/dashboard' } as const;

/** A part of the names of the operations of lists. */
export const listNouns = { project: 'Project', group: 'Group', dashboard: '' } as const;

/** The feed of a list with its filters. The list of everything has none: its address does not say whose it is. */
export const feedIn = (place: ListPlace, { path, query }: Pick<Seen, 'path' | 'query'>): { feed?: string } =>
  place === 'dashboard'
    ? {}
    : { feed: withQuery({ path: `${path}.atom`, query }, { page: undefined, cursor: undefined }) };

/** What the lists of everything show: by default, what is assigned to the reader. */
export const scopeField: Field = {
  name: 'scope',
  label: 'Show',
  kind: 'select',
  options: [
    { value: 'assigned_to_me', label: 'Assigned to me' },
    { value: 'created_by_me', label: 'Created by me' },
    { value: 'all', label: 'All that I may see' },
  ],
};

/** The scope that a list of everything has until another one is chosen. */
export const scopeOf = (place: ListPlace, query: Values): Values =>
  place === 'dashboard' ? { scope: textIn(query, 'scope') ?? 'assigned_to_me' } : {};

const orders = /^(created|updated)_(asc|desc)$/;

/**
 * The parameters of a list of issues or merge requests. Empty filters are ignored.
 * @param names the filters that are read from the query
 */
export function filtersIn(query: Values, names: readonly string[]): Values {
  const given = names.flatMap((name) => {
    const value = query[name];
    return value === undefined || value === '' ? [] : [[name, value]];
  });
  const [, column, sort] = orders.exec(textIn(query, 'sort') ?? '') ?? [];
  return { ...Object.fromEntries(given), ...(column ? { order_by: `${column}_at`, sort } : {}) };
}

/** The filters shared by lists of issues and of merge requests. */
export const sharedFilters = [
  'search',
  'labels',
  'author_username',
  'assignee_username',
  'assignee_id',
  'milestone',
  'release_tag',
  'not',
] as const;

/** Where filters in words lead: the list with the query that they stand for, which is kept, sent and changed there. */
export const filterPage = (place: ListPlace, list: 'issues' | 'merge_requests'): Redirect =>
  redirect(`${listStarts[place]}/${list}/filter`, ({ path, query, caller }) => {
    const { words, ...kept } = query;
    const meant = queryOfWords(typeof words === 'string' ? words : '', caller?.username);
    for (const [name, value] of Object.entries(kept))
      if (typeof value === 'string' && !meant.has(name)) meant.set(name, value);
    return `${path.replace(/\/filter$/, '')}?${meant}`;
  });
