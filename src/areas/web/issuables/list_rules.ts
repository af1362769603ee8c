/** The parameters of a list, from the address of its page. */
import type { Values } from '../../../http/index.ts';
import { textIn } from '../../../pages/index.ts';

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
  'milestone',
  'release_tag',
] as const;
