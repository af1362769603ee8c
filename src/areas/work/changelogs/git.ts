/** Reads the commits and settings of changelogs from repositories. */
import type { Project } from '../../../access/index.ts';
import { InvalidExpression, MatchingTimeout, matchGroups } from '../../../expressions/index.ts';
import {
  type Commit,
  entryAt,
  listCommits,
  listTags,
  type Repository,
  readBlob,
  resolveCommit,
} from '../../../git/index.ts';
import { ApiError, notFound } from '../../../http/index.ts';
import { InvalidSettings, maximumSettings_bytes, type Settings, settingsIn } from './config_rules.ts';
import { newestBelow, unreverted, usualVersions, type VersionTag, versionOfTag } from './section_rules.ts';

const maximumCommits = 10_000;
const maximumTags = 50_000;
const matching_ms = 500;

/** The error for a changelog that cannot be generated. */
export const failed = (reason: string): ApiError =>
  new ApiError(422, { message: `Failed to generate the changelog: ${reason}` });

export const rangeTexts = {
  noStart: 'The commit start range is unspecified, and no previous tag could be found to use instead',
  long: `The range has more than ${maximumCommits} commits`,
};

/** The text of a file; undefined if there is none. @throws ApiError 422 if it is too large */
export async function textAt(
  repository: Repository,
  commit: string,
  { path, maximum_bytes }: { path: string; maximum_bytes: number },
): Promise<string | undefined> {
  const entry = await entryAt(repository, commit, path);
  if (entry?.type !== 'blob') return undefined;
  try {
    return (await readBlob(repository, entry.id, maximum_bytes)).toString();
  } catch (error) {
    if (error instanceof RangeError) throw failed(`${path} is too large`);
    throw error;
  }
}

/**
 * The settings in a file of a repository; the defaults if there is none.
 * @throws ApiError 422
 */
export async function readSettings(repository: Repository, ref: string, path: string): Promise<Settings> {
  const commit = await resolveCommit(repository, ref);
  const yaml = commit && (await textAt(repository, commit, { path, maximum_bytes: maximumSettings_bytes }));
  try {
    return settingsIn(yaml ?? '');
  } catch (error) {
    if (error instanceof InvalidSettings) throw failed(`${path}: ${error.message}`);
    throw error;
  }
}

/** @throws ApiError 422 for an invalid expression */
async function versionsIn(names: readonly string[], tag_regex: string | undefined): Promise<readonly VersionTag[]> {
  if (tag_regex === undefined) return usualVersions(names);
  try {
    // Converts named groups from Ruby and Python syntax to the form that RE2 always supports.
    const matches = await matchGroups({ source: tag_regex.replaceAll('(?<', '(?P<') }, names, matching_ms);
    return names.flatMap((tag, index) => {
      const groups = matches[index];
      const version = groups && versionOfTag(tag, groups);
      return version === undefined ? [] : [{ tag, version }];
    });
  } catch (error) {
    if (error instanceof InvalidExpression) throw failed(`tag_regex: ${error.reason}`);
    if (error instanceof MatchingTimeout) throw failed('tag_regex takes too long to match');
    throw error;
  }
}

interface Range {
  version: string;
  from?: string | undefined;
  to: string;
}

async function startOf(repository: Repository, { version, from }: Range, settings: Settings): Promise<string> {
  if (from) {
    const commit = await resolveCommit(repository, from);
    if (commit === undefined) throw notFound('Commit');
    return commit;
  }
  const names = (await listTags(repository)).slice(-maximumTags).map(({ name }) => name);
  const tag = newestBelow(version, await versionsIn(names, settings.tag_regex));
  const commit = tag === undefined ? undefined : await resolveCommit(repository, `refs/tags/${tag}`);
  if (commit === undefined) throw failed(rangeTexts.noStart);
  return commit;
}

/** A commit of a changelog, and its category. */
export interface Chosen {
  commit: Commit;
  category: string;
}

/**
 * The commits of a range that have a changelog trailer, newest first, without reverted ones.
 * @throws ApiError 404 if an end does not exist, 422 for a range without a start or with too many commits
 */
export async function commitsOf(
  project: Pick<Project, 'default_branch'>,
  repository: Repository,
  { range, trailer, settings }: { range: Range; trailer: string; settings: Settings },
): Promise<Chosen[]> {
  const end = await resolveCommit(repository, range.to || project.default_branch);
  if (end === undefined) throw notFound('Commit');
  const start = await startOf(repository, range, settings);
  const commits = await listCommits(repository, { from: [end], not: [start], limit: maximumCommits + 1 });
  if (commits.length > maximumCommits) throw failed(rangeTexts.long);
  const wanted = trailer.toLowerCase();
  return unreverted(commits).flatMap((commit) => {
    const found = Object.entries(commit.trailers).find(([key]) => key.toLowerCase() === wanted);
    return found ? [{ commit, category: found[1] }] : [];
  });
}
