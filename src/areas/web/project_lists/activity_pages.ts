/** What happened in a project. */
import { commitKind, issueKind, mergeRequestKind, pageBelow, snippetKind } from '../../../access/index.ts';
import { slugInAddress } from '../../../foundation/addresses.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import { type Content, type Html, html, page, pager, pagingOf, person, rows, time } from '../../../pages/index.ts';
import type { EventReply } from '../../activity/events/index.ts';
import { comparePage, treePage } from '../../code/repository/index.ts';
import { tagPage } from '../repository/address_rules.ts';

/** The addresses of what has a number in the project. */
const pages: Readonly<Record<string, (project: string, iid: number) => string>> = {
  Issue: issueKind.page,
  MergeRequest: mergeRequestKind.page,
};

const signs: Readonly<Record<string, string>> = { Issue: '#', MergeRequest: '!' };

const words = (type: string): string => type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

type PushData = NonNullable<EventReply['push_data']>;

/** A branch or tag that was pushed. */
function pushedRef(id: string, { ref, ref_type, ref_count, commit_to }: PushData): Content {
  if (ref === null) return html`${ref_count} ${ref_type === 'tag' ? 'tags' : 'branches'}`;
  const address = ref_type === 'tag' ? tagPage(id, ref) : treePage(id, ref);
  return html`${ref_type} ${commit_to ? html`<a href="${address}" rel="nofollow">${ref}</a>` : ref}`;
}

/** The last commit of a push, and the way to all of them. */
function pushedCommits(id: string, { commit_count, commit_from, commit_to, commit_title }: PushData): Content {
  if (!commit_to) return undefined;
  const compared = commit_count > 1 && commit_from && comparePage(id, `${commit_from}...${commit_to}`);
  return html`<div class="soft"><a href="${commitKind.page(id, commit_to)}" rel="nofollow">${commit_title ?? commit_to.slice(0, 8)}</a>${compared && html` · <a href="${compared}" rel="nofollow">${commit_count} commits</a>`}</div>`;
}

/** What a comment is on. */
function notedView(id: string, { note, target_title }: EventReply): Content {
  const {
    id: note_id,
    noteable_type,
    noteable_iid,
  } = note as {
    id: number;
    noteable_type?: string;
    noteable_iid?: number | null;
  };
  const address = noteable_type && noteable_iid ? pages[noteable_type]?.(id, noteable_iid) : undefined;
  const name = html`${words(noteable_type ?? '')} ${address && `${signs[noteable_type!]}${noteable_iid}`} ${target_title}`;
  return address ? html`<a href="${`${address}#note_${note_id}`}">${name}</a>` : name;
}

function targetView(id: string, event: EventReply): Content {
  const { push_data, note, target_type, target_iid, target_title, wiki_page } = event;
  if (push_data) return pushedRef(id, push_data);
  if (note) return notedView(id, event);
  if (wiki_page)
    return html`wiki page <a href="${`${pageBelow.project(id, 'wikis')}/${slugInAddress(wiki_page.slug)}`}">${wiki_page.title}</a>`;
  if (target_type === null || target_type === 'Project') return 'the project';
  const address = target_iid === null ? undefined : pages[target_type]?.(id, target_iid);
  if (address)
    return html`${words(target_type)} <a href="${address}">${signs[target_type]}${target_iid} ${target_title}</a>`;
  if (target_type.endsWith('Snippet') && target_iid !== null)
    return html`snippet <a href="${snippetKind.page(id, target_iid)}">${target_title}</a>`;
  return html`${words(target_type)} ${target_title}`;
}

const eventView = (id: string, event: EventReply): Html =>
  html`${person(event.author)} ${event.action_name} ${targetView(id, event)} <span class="soft">${time(event.created_at)}</span>${event.push_data && pushedCommits(id, event.push_data)}`;

export const activityPage = page('/:id/-/activity', {
  load: async (call) => {
    const { reply } = await call.described('listProjectEvents', { per_page: 40, ...pagingOf(call) });
    return { id: call.params.id!, events: reply as ListPage<EventReply> };
  },
  view: ({ id, events }, seen) => ({
    title: ['Activity', id],
    place: { id, kind: 'project', tab: 'activity' },
    main: html`${rows(
      events.items.map((event) => eventView(id, event)),
      'Nothing has happened here that you may see.',
    )}
${pager(events, seen)}`,
  }),
});
