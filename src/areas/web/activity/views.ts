/** Views of events. */
import { commitKind, issueKind, mergeRequestKind, pageBelow, projectPage, snippetKind } from '../../../access/index.ts';
import { slugInAddress } from '../../../foundation/addresses.ts';
import { type Content, type Html, html, person, time } from '../../../pages/index.ts';
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

/** The last commit of a push, and the way to all of them. */
function pushedCommits(id: string, { commit_count, commit_from, commit_to, commit_title }: PushData): Content {
  if (!commit_to) return undefined;
  const compared = commit_count > 1 && commit_from && comparePage(id, `${commit_from}...${commit_to}`);
  return html`<div class="soft"><a href="${commitKind.page(id, commit_to)}" rel="nofollow">${commit_title ?? commit_to.slice(0, 8)}</a>${compared && html` · <a href="${compared}" rel="nofollow">${commit_count} commits</a>`}</div>`;
}

/** What an event is about. */
interface Target {
  /** Its kind, if that is not part of its name. */
  kind?: string;
  name: string;
  /** Undefined if there is nothing to open. */
  address?: string | undefined;
}

/** A branch or tag that was pushed. */
function pushedRef(id: string, { ref, ref_type, ref_count, commit_to }: PushData): Target {
  if (ref === null) return { name: `${ref_count} ${ref_type === 'tag' ? 'tags' : 'branches'}` };
  const address = ref_type === 'tag' ? tagPage(id, ref) : treePage(id, ref);
  return { kind: ref_type, name: ref, ...(commit_to ? { address } : {}) };
}

/** What a comment is on. */
function notedTarget(id: string, { note, target_title }: EventReply): Target {
  const {
    id: note_id,
    noteable_type = '',
    noteable_iid,
  } = note as {
    id: number;
    noteable_type?: string;
    noteable_iid?: number | null;
  };
  const page = noteable_iid ? pages[noteable_type]?.(id, noteable_iid) : undefined;
  const number = page && `${signs[noteable_type]}${noteable_iid}`;
  const name = [words(noteable_type), number, target_title].filter(Boolean).join(' ');
  return { name, address: page && `${page}#note_${note_id}` };
}

/** @param id the path of the project of the event */
export function targetOf(id: string, event: EventReply): Target {
  const { push_data, note, target_type, target_iid, target_title, wiki_page } = event;
  if (push_data) return pushedRef(id, push_data);
  if (note) return notedTarget(id, event);
  if (wiki_page)
    return {
      kind: 'wiki page',
      name: wiki_page.title,
      address: `${pageBelow.project(id, 'wikis')}/${slugInAddress(wiki_page.slug)}`,
    };
  if (target_type === null || target_type === 'Project') return { kind: 'project', name: id, address: projectPage(id) };
  const address = target_iid === null ? undefined : pages[target_type]?.(id, target_iid);
  if (address) return { kind: words(target_type), name: `${signs[target_type]}${target_iid} ${target_title}`, address };
  if (target_type.endsWith('Snippet') && target_iid !== null)
    return { kind: 'snippet', name: target_title ?? '', address: snippetKind.page(id, target_iid) };
  return { kind: words(target_type), name: target_title ?? '' };
}

/** Robots that follow links to what was pushed would read the whole history. */
const targetView = ({ kind, name, address }: Target): Content =>
  html`${kind}${kind && ' '}${address ? html`<a href="${address}" ?rel="${(kind === 'branch' || kind === 'tag') && 'nofollow'}">${name}</a>` : name}`;

/** One event. @param id the path of its project, which is named on the page of its author */
export function eventView(id: string, event: EventReply, page: 'project' | 'author'): Html {
  const { author, action_name, created_at, push_data } = event;
  const place =
    page === 'author' && event.target_type !== 'Project' && html` in <a href="${projectPage(id)}">${id}</a>`;
  return html`${page === 'project' && html`${person(author)} `}${action_name} ${targetView(targetOf(id, event))}${place} <span class="soft">${time(created_at)}</span>${push_data && pushedCommits(id, push_data)}`;
}
