/**
 * Bodies that versions before 0.1.0 composed in the transaction of the change, with holes for what is not in the database,
 * e.g. `{"$person": {…}}`. Events of their time are announced with them
 * (docs/decisions/0140-bodies-of-webhooks-are-presented-later.md).
 */
import { cloneUrls, declaredPart } from '../../../http/index.ts';
import type { Filling } from '../../../services/index.ts';
import { avatarUrl } from '../../people/avatars/index.ts';
import {
  HookPerson,
  HookProject,
  HookRepository,
  presentPerson,
  presentProject,
  presentRepository,
} from './part_present.ts';
import type { PersonRow, ProjectRow } from './part_queries.ts';
import {
  gainedBy,
  headOfPush,
  oneCommit,
  type ProjectPlace,
  type Pushed,
  presentAuthored,
  text,
} from './repository_present.ts';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

interface Wiki {
  /** The path of its page on this server. */
  page: string;
  /** The full path of its project or group. */
  full_path: string;
  default_branch: string;
}

function wiki(filling: Filling, { page, full_path, default_branch }: Wiki) {
  const path_with_namespace = `${full_path}.wiki`;
  const { http, ssh } = cloneUrls(filling, path_with_namespace);
  return { web_url: filling.url + page, git_ssh_url: ssh, git_http_url: http, path_with_namespace, default_branch };
}

/** A push to one branch or tag, with the other fields of its body. */
const pushed = async (services: Filling, { also, ...push }: Pushed & { also: unknown }) => ({
  ...headOfPush(push),
  ...((await filled(services, also)) as object),
  ...(await gainedBy(services, push)),
  push_options: {},
});

/** A place of a commit as it was composed. */
type CommitPlace = ProjectPlace & { sha: string };

const commitAt = (services: Filling, place: CommitPlace | null) => place && oneCommit(services, place, place.sha);

/** The fillers of the holes, by the name of a hole's only member. */
const fillers = {
  $person: (services: Filling, row: PersonRow) => declaredPart(HookPerson)(presentPerson(row, services)),
  $project: (services: Filling, row: ProjectRow) => declaredPart(HookProject)(presentProject(row, services)),
  $repository: (services: Filling, row: ProjectRow) => declaredPart(HookRepository)(presentRepository(row, services)),
  $url: ({ url }: Filling, page: string) => url + page,
  $wiki: wiki,
  $text: text,
  $avatar: ({ url }: Filling, user: { id: number; avatar: string | null }) => avatarUrl(url, 'user', user),
  $commit: commitAt,
  $commit_title: async (services: Filling, place: CommitPlace | null) =>
    (await commitAt(services, place))?.title ?? null,
  $authored: async (services: Filling, { place, also }: { place: CommitPlace | null; also: object }) => ({
    ...also,
    ...(await presentAuthored(services, place, place?.sha ?? null)),
  }),
  $push: pushed,
};

const isHole = (name: string): name is keyof typeof fillers => Object.hasOwn(fillers, name);

/** @param facts of `hook_events` */
export async function filled(services: Filling, facts: unknown): Promise<unknown> {
  if (typeof facts !== 'object' || facts === null) return facts;
  if (Array.isArray(facts)) return Promise.all(facts.map((each) => filled(services, each)));
  const members = Object.entries(facts);
  const [[name, value] = ['', null]] = members;
  if (isHole(name)) return (fillers[name] as (services: Filling, facts: never) => unknown)(services, value as never);
  return Object.fromEntries(
    await Promise.all(members.map(async ([member, each]) => [member, await filled(services, each as Json)] as const)),
  );
}
