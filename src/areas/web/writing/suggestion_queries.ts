/** Completing references in a text: what begins with a mark, as the lists of the API find it. */
import { gemoji } from 'gemoji';
import { type Content, face, html, type Operation, type PageCall } from '../../../pages/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { GroupLabel, ProjectLabel } from '../../planning/labels/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';
import { Member } from '../../spaces/members/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import type { WritingPlace } from './place_queries.ts';

/** A reference with what it means. */
export interface Suggestion {
  /** As it is written in a text. */
  text: string;
  meaning: Content;
}

/** As many as one looks through. */
const most = 8;

type Read = Pick<PageCall, 'list'>;
type Find = (call: Read, kind: WritingPlace['kind'], search: string) => Promise<Suggestion[]>;

const items = async <T>(asked: Promise<{ items: readonly T[] }>): Promise<readonly T[]> => (await asked).items;

const personOf = (user: { id: number; username: string; name: string; avatar_url: string | null }): Suggestion => ({
  text: `@${user.username}`,
  meaning: html`${face(user)}${user.name}`,
});

const people: Find = async ({ list }, kind, search) =>
  kind === 'project'
    ? (await items(list(UserBasic, 'listProjectUsers', { search, per_page: most }))).map(personOf)
    : (await items(list(Member, 'listAllGroupMembers', { query: search, per_page: most }))).map(personOf);

/** What has a number: by the number, or by words of its title. */
const numbered = (search: string) => (/^\d{1,9}$/.test(search) ? { iids: [search] } : { search, in: 'title' });

const titled =
  (operations: Record<WritingPlace['kind'], Operation>, schema: typeof Issue | typeof MergeRequestInList): Find =>
  async ({ list }, kind, search) => {
    const asked = { ...numbered(search), scope: 'all', state: 'opened', per_page: most };
    const found = await items(list(schema, operations[kind], asked as never));
    return found.map(({ title, references }) => ({
      text: (kind === 'project' ? references?.short : references?.full) ?? '',
      meaning: title,
    }));
  };

/** A name after its mark, in quotes if it has more than one word. */
const named = (mark: string, name: string): string => `${mark}${/^[\w.:-]+$/.test(name) ? name : `"${name}"`}`;

const labels: Find = async ({ list }, kind, search) => {
  const asked = { search, per_page: most };
  const found = await (kind === 'project'
    ? items(list(ProjectLabel, 'listProjectLabels', asked))
    : items<{ name: string; description: string | null }>(list(GroupLabel, 'listGroupLabels', asked)));
  return found.map(({ name, description }) => ({ text: named('~', name), meaning: description }));
};

const milestones: Find = async ({ list }, kind, search) => {
  const operation = kind === 'project' ? 'listProjectMilestones' : 'listGroupMilestones';
  const found = await items(
    list(Milestone, operation, { search, state: 'active', include_ancestors: true, per_page: most }),
  );
  return found.map(({ title, due_date }) => ({ text: named('%', title), meaning: due_date && `due ${due_date}` }));
};

const names = gemoji.flatMap(({ names: own, emoji }) => own.map((name) => ({ name, emoji })));

const emoji: Find = async (_, __, search) => {
  const begins = names.filter(({ name }) => name.startsWith(search));
  const has = names.filter(({ name }) => !name.startsWith(search) && name.includes(search));
  return [...begins, ...has].slice(0, most).map(({ name, emoji: sign }) => ({ text: `:${name}:`, meaning: sign }));
};

const finders: Readonly<Record<string, Find>> = {
  '@': people,
  '#': titled({ project: 'listProjectIssues', group: 'listGroupIssues' }, Issue),
  '!': titled({ project: 'listProjectMergeRequests', group: 'listGroupMergeRequests' }, MergeRequestInList),
  '~': labels,
  '%': milestones,
  ':': emoji,
};

/**
 * What a text may go on with.
 * @param mark the character before what was typed; there is nothing for others
 * @param search what was typed after it; nothing is a beginning of everything but emoji
 */
export async function suggestionsFor(
  call: Read,
  { kind }: WritingPlace,
  mark: string,
  search: string,
): Promise<Suggestion[]> {
  if (!Object.hasOwn(finders, mark) || (mark === ':' && search === '')) return [];
  return finders[mark]!(call, kind, search);
}
