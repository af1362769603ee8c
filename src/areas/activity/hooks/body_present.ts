/**
 * The body of an event: its facts, with the holes filled from outside the database, e.g. with addresses and commits.
 * Commits never change, so neither does the body.
 */
import { projectPage, userPage } from '../../../access/index.ts';
import { cloneUrls } from '../../../http/index.ts';
import { avatarUrl } from '../../people/avatars/index.ts';
import { ownersOfAddresses } from '../../people/emails/index.ts';
import type { Hole } from './definition.ts';
import {
  type CommitPlace,
  type Filling,
  gainedBy,
  headOfPush,
  oneCommit,
  type Pushed,
  text,
} from './repository_present.ts';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

interface Person {
  id: number;
  name: string;
  username: string;
  avatar: string | null;
  public_email: string;
}

interface ShownSource {
  name: string;
  description: string | null;
  visibility: string;
  full_path: string;
}

type Project = ShownSource & { id: number; avatar: string | null; namespace: string; default_branch: string };

interface Wiki {
  /** The path of its page on this server. */
  page: string;
  /** The full path of its project or group. */
  full_path: string;
  default_branch: string;
}

const visibilityLevels: Record<string, number> = { private: 0, internal: 10, public: 20 };

const person = ({ url }: Filling, { avatar, public_email, ...user }: Person) => ({
  ...user,
  avatar_url: avatarUrl(url, 'user', { id: user.id, avatar }),
  email: public_email || '[REDACTED]',
});

function project(filling: Filling, { avatar, visibility, full_path, ...row }: Project) {
  const { url } = filling;
  const web_url = url + projectPage(full_path);
  const { http, ssh } = cloneUrls(filling, full_path);
  const { id, name, description, namespace, default_branch } = row;
  return {
    id,
    name,
    description,
    web_url,
    avatar_url: avatarUrl(url, 'project', { id, avatar }),
    git_ssh_url: ssh,
    git_http_url: http,
    namespace,
    visibility_level: visibilityLevels[visibility]!,
    path_with_namespace: full_path,
    default_branch,
    ci_config_path: null,
    homepage: web_url,
    url: ssh || http,
    ssh_url: ssh,
    http_url: http,
  };
}

function repository(filling: Filling, { name, description, visibility, full_path }: ShownSource) {
  const { http, ssh } = cloneUrls(filling, full_path);
  return {
    name,
    url: ssh || http,
    description,
    homepage: filling.url + projectPage(full_path),
    git_http_url: http,
    git_ssh_url: ssh,
    visibility_level: visibilityLevels[visibility]!,
  };
}

function wiki(filling: Filling, { page, full_path, default_branch }: Wiki) {
  const path_with_namespace = `${full_path}.wiki`;
  const { http, ssh } = cloneUrls(filling, path_with_namespace);
  return { web_url: filling.url + page, git_ssh_url: ssh, git_http_url: http, path_with_namespace, default_branch };
}

/** A push to one branch or tag, with the other fields of its body. */
const pushed = async (services: Filling, { also, ...push }: Pushed & { also: unknown }) => ({
  ...headOfPush(push),
  ...((await bodyOf(services, also)) as object),
  ...(await gainedBy(services, push)),
  push_options: {},
});

/** The commit in hook bodies of jobs, with the other fields of it. */
async function authored(services: Filling, { place, also }: { place: CommitPlace | null; also: object }) {
  const commit = await oneCommit(services, place);
  if (!commit) return { ...also, message: null, author_name: null, author_email: null, author_url: null };
  const { name, email } = commit.author;
  const [owner] = await ownersOfAddresses(services.db, [email]);
  const author_url = owner ? services.url + userPage(owner.username) : `mailto:${email}`;
  return { ...also, message: commit.title, author_name: name, author_email: email, author_url };
}

/** The fillers of the holes, by the name of a hole's only field. */
const fillers: Readonly<Record<`$${Hole}`, (services: Filling, facts: never) => unknown>> = {
  $person: person,
  $project: project,
  $repository: repository,
  $url: ({ url }: Filling, page: string) => url + page,
  $wiki: wiki,
  $text: text,
  $avatar: ({ url }: Filling, user: { id: number; avatar: string | null }) => avatarUrl(url, 'user', user),
  $commit: oneCommit,
  $commit_title: async (services: Filling, place: CommitPlace | null) =>
    (await oneCommit(services, place))?.title ?? null,
  $authored: authored,
  $push: pushed,
};

const isHole = (name: string): name is keyof typeof fillers => Object.hasOwn(fillers, name);

/** @param facts of `hook_events` */
export async function bodyOf(services: Filling, facts: unknown): Promise<unknown> {
  if (typeof facts !== 'object' || facts === null) return facts;
  if (Array.isArray(facts)) return Promise.all(facts.map((each) => bodyOf(services, each)));
  const members = Object.entries(facts);
  const [[name, value] = ['', null]] = members;
  if (isHole(name)) return fillers[name](services, value as never);
  return Object.fromEntries(
    await Promise.all(members.map(async ([member, each]) => [member, await bodyOf(services, each as Json)] as const)),
  );
}
