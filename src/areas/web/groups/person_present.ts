/** The tabs of the page of a user: their projects, those that they star and work on, and whom they follow. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Html,
  html,
  type PageCall,
  pager,
  pagingOf,
  person,
  rows,
  type Seen,
  textIn,
} from '../../../pages/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { projectRows } from './views.ts';

type Projects = ListPage<Static<typeof ProjectWithAccessForm>>;
type People = ListPage<Static<typeof UserBasic>>;

const projectTabs = {
  projects: ['Projects', 'listUserProjects', 'There are no projects of their own that you may see.'],
  contributed: [
    'Contributed',
    'listContributedProjects',
    'They have worked on no project that you may see in the last year.',
  ],
  starred: ['Starred', 'listStarredProjects', 'They have starred no project that you may see.'],
} as const;

const peopleTabs = {
  followers: ['Followers', 'listFollowers', 'Nobody follows them.'],
  following: ['Following', 'listFollowedUsers', 'They follow nobody.'],
} as const;

type ProjectTab = keyof typeof projectTabs;
type PeopleTab = keyof typeof peopleTabs;

const isPeopleTab = (tab: string): tab is PeopleTab => Object.hasOwn(peopleTabs, tab);

/** The tab that was asked for. Visitors who are not signed in see the projects only. */
export function tabIn({ query, caller }: PageCall): ProjectTab | PeopleTab {
  const asked = textIn(query, 'tab') ?? 'projects';
  const isKnown = Object.hasOwn(projectTabs, asked) || isPeopleTab(asked);
  return caller && isKnown ? (asked as ProjectTab | PeopleTab) : 'projects';
}

/** What a tab lists; undefined if it is hidden from the caller, as by a private profile. */
export async function listed(call: PageCall, tab: ProjectTab | PeopleTab, id: number) {
  const { list, perhaps } = call;
  if (isPeopleTab(tab))
    return { people: await perhaps(list(UserBasic, peopleTabs[tab][1], { id, ...pagingOf(call) })) };
  const asked = { user_id: id, ...pagingOf(call) };
  return { projects: await perhaps(list(ProjectWithAccessForm, projectTabs[tab][1], asked)) };
}

const peopleRows = (found: People, seen: Seen, empty: string): Html =>
  html`${rows(
    found.items.map((each) => html`${person(each)} <span class="soft">@${each.username}</span>`),
    empty,
  )}
${pager(found, seen)}`;

export function tabView(
  tab: ProjectTab | PeopleTab,
  { projects, people }: { projects?: Projects | undefined; people?: People | undefined },
  seen: Seen,
): Html {
  if (projects && !isPeopleTab(tab)) return projectRows(projects, seen, projectTabs[tab][2]);
  if (people && isPeopleTab(tab)) return peopleRows(people, seen, peopleTabs[tab][2]);
  return html`<p class="soft">They do not show this.</p>`;
}

export const tabs = [...Object.entries(projectTabs), ...Object.entries(peopleTabs)].map(
  ([name, [label]]) => [name, label] as const,
);
