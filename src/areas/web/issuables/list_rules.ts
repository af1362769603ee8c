/** What a list is asked with, from the address of its page. */
import type { Values } from '../../../http/index.ts';
import { textIn } from '../../../pages/index.ts';

const orders = /^(created|updated)_(asc|desc)$/;

/**
 * The parameters of a list of issues or merge requests. Filters that were left empty do not count.
 * @param names of the filters that are taken from the query
 */
export function filtersIn(query: Values, names: readonly string[]): Values {
  const given = names.flatMap((name) => {
    const value = query[name];
    return value === undefined || value === '' ? [] : [[name, value]];
  });
  const [, column, sort] = orders.exec(textIn(query, 'sort') ?? '') ?? [];
  return { ...Object.fromEntries(given), ...(column ? { order_by: `${column}_at`, sort } : {}) };
}

/** The filters that lists of issues and of merge requests have. */
export const sharedFilters = [
  'search',
  'labels',
  'author_username',
  'assignee_username',
  'milestone',
  'release_tag',
] as const;
