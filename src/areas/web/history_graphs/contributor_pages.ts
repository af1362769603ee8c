/** The authors of a history, with the number of their commits. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import { face, html, page, pager, pagingOf, rows, type Seen, type View } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Contributor } from '../../code/repository/index.ts';
import { type RefPath, refNames, refPathOf } from '../repository/ref_queries.ts';
import { refSwitch, type ShownRefs } from '../repository/ref_views.ts';

interface Contributors {
  place: RefPath;
  refs: ShownRefs;
  contributors: ListPage<Static<typeof Contributor>>;
  /** The number of commits of the first one of all. */
  most: number;
}

function view({ place, refs, contributors, most }: Contributors, seen: Seen): View {
  const { id, ref } = place;
  return {
    title: ['Contributors', ref, id],
    place: { id, kind: 'project', tab: 'commits' },
    main: html`<div class="bar">${refSwitch(place, 'graphs', refs, seen)}</div>
${rows(
  contributors.items.map(
    ({ name, email, commits }) =>
      html`${face({ name })}<strong>${name}</strong> <span class="soft">${email}</span>
<div><svg class="share" aria-hidden="true" width="100%" height="8"><rect width="${`${Math.max(1, Math.round((commits / most) * 100))}%`}" height="8" rx="2"/></svg>${counted(commits, 'commit')}</div>`,
  ),
  'There are no commits here.',
)}
${pager(contributors, seen)}`,
  };
}

export const contributorPages = page('/:id/-/graphs/*ref_path', {
  is_costly: true,
  async load(call): Promise<Contributors> {
    const place = await refPathOf(call);
    const asked = { ref: place.commit.id, sort: 'desc' };
    const [refs, contributors, first] = await Promise.all([
      refNames(call),
      call.list(Contributor, 'listContributors', { ...asked, per_page: 40, ...pagingOf(call) }),
      call.list(Contributor, 'listContributors', { ...asked, per_page: 1 }),
    ]);
    return { place, refs, contributors, most: first.items[0]?.commits ?? 1 };
  },
  view,
});
