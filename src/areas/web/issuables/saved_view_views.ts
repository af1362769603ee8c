/** The saved views of a list: its filters under a name (docs/reference/work_pages.md#saved-views). */
import type { Static } from 'typebox';
import {
  type Content,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  type PageForm,
  refusalIn,
  type Seen,
  withQuery,
} from '../../../pages/index.ts';
import { SavedView } from '../../work/saved_views/index.ts';
import type { ListPlace } from './list_rules.ts';

type List = 'issues' | 'merge_requests';

/** The project or group of a list, as the API takes it. */
const placeIn = (place: ListPlace, { params: { id } }: Pick<PageCall, 'params'>) =>
  place === 'dashboard' ? {} : { [`${place}_id`]: id };

/** The views of a list; none for those who are not signed in. */
export const savedViews = async (
  call: PageCall,
  list: List,
  place: ListPlace,
): Promise<readonly Static<typeof SavedView>[]> =>
  call.caller ? call.all(SavedView, 'listSavedViews', { list, ...placeIn(place, call) }) : [];

/** The filters of an address, in one order, without the page of the list. */
function filtersOf({ path, query }: Pick<Seen, 'path' | 'query'>): string {
  const [, text = ''] = withQuery({ path, query }, { page: undefined, cursor: undefined }).split('?', 2);
  const given = [...new URLSearchParams(text)].filter(([, value]) => value !== '');
  return new URLSearchParams(given.toSorted(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** The forms that keep the filters of a list and delete a view. */
export const savedViewForms = (list: List, place: ListPlace) =>
  ({
    save_view: {
      runs: 'createSavedView',
      takes: async (call, { name }) => ({ list, name, query: filtersOf(call), ...placeIn(place, call) }),
      next: (_: never, call) => withQuery(call, {}),
    },
    remove_view: { runs: 'deleteSavedView' },
  }) satisfies Record<string, PageForm>;

/** The views as links, and the form that keeps the filters of the address, or deletes the view that has the same. */
export function savedViewsView(seen: Seen, views: readonly Static<typeof SavedView>[]): Content {
  const filters = filtersOf(seen);
  const current = views.find(({ query }) => query === filters);
  const mayKeep = seen.caller !== undefined && filters !== '' && !current;
  if (views.length === 0 && !mayKeep) return undefined;
  const links = views.map(
    ({ id, name, query }): Html =>
      html`<a class="button" href="${`${seen.path}?${query}`}" ?aria-current="${id === current?.id && 'page'}">${name}</a> `,
  );
  return html`<nav class="actions" aria-label="Saved views">${links}${
    current &&
    form(seen, 'remove_view', { fields: [hidden('view_id', current.id)], button: 'Delete this view', look: 'plain' })
  }${
    mayKeep &&
    html`<details ?open="${refusalIn(seen, 'save_view') !== undefined}"><summary>Save this view</summary>${form(
      seen,
      'save_view',
      {
        fields: [{ name: 'name', label: 'Name', is_required: true, maximum: 100 }],
        button: 'Save view',
        look: 'plain',
        action: withQuery(seen, {}),
      },
    )}</details>`
  }</nav>`;
}
