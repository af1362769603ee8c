/** The server side of the hooks of a push. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { installedFile } from '../foundation/installation.ts';
import { isValidBranchName, isValidTagName } from './ref_names.ts';
import type { Environment, Push, RefUpdate } from './types.ts';

/** The callbacks of the rest of the product during a push. */
export interface PushRules {
  /** Texts that refuse the push, each shown to the client as `remote: GitLab: <text>`; an empty list accepts it. No ref is updated yet. */
  check(push: Push): Promise<string[]>;
  /** Receives the updates that were made, and returns texts that the client shows as `remote: <text>`. */
  moved(updates: RefUpdate[], options: string[]): Promise<string[]>;
  /** Receives errors of `check`, after which the push is refused, and of `moved`, when the refs have already moved. */
  failed(error: unknown): void;
}

export const hooks_folder = installedFile('src/git/hooks');
/** The size of half a million refs, far more than a real push has. */
const maximumReport = 64 * 1024 * 1024;

/** Throws when the system would not run the hooks: git would then accept every push, with only a hint. */
export async function checkHooks(): Promise<void> {
  await Promise.all(['pre-receive', 'post-receive'].map((name) => access(`${hooks_folder}/${name}`, constants.X_OK)));
}

/** Listens to the hooks on a channel and replies. `onAccept` is called before the hook receives permission to update refs. */
export function converse(channel: Duplex, rules: PushRules, onAccept: () => void): void {
  let heard = '';
  channel.setEncoding('utf8');
  channel.on('error', () => {}); // the peer died; git's exit code tells
  channel.on('data', (chunk: string) => {
    heard += chunk;
    if (heard.length > maximumReport) channel.destroy();
    // A prefix on every line that a client can influence keeps it from looking like the last line.
    if (!heard.endsWith('\nend\n')) return;
    const [hook, ...lines] = heard.split('\n').slice(0, -2);
    heard = '';
    const answer = hook === 'post-receive' ? answerMoved(lines, rules) : answerCheck(lines, rules, onAccept);
    void answer.then((text) => channel.write(text));
  });
}

async function answerCheck(lines: string[], rules: PushRules, onAccept: () => void): Promise<string> {
  const [objects = '', alternates = '', quarantine = '', ...report] = lines;
  const { updates, options } = readReport(report);
  const foreign = updates
    .filter(({ ref, new: target }) => !mayBePushed(ref, target))
    .map(({ ref }) => `${ref} cannot be pushed.`);
  const env: Environment = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates,
    GIT_QUARANTINE_PATH: quarantine,
  };
  try {
    // A push that only deletes refs has no objects and no quarantine.
    const refusals =
      foreign.length > 0 ? foreign : await rules.check({ updates, options, quarantine: quarantine === '' ? {} : env });
    if (refusals.length > 0)
      return formatAnswer(
        refusals.map((text) => `GitLab: ${text}`),
        'refuse',
      );
  } catch (error) {
    rules.failed(error);
    return formatAnswer(['GitLab: An internal error prevented the push.'], 'refuse');
  }
  onAccept();
  return formatAnswer([], 'accept');
}

async function answerMoved(lines: string[], rules: PushRules): Promise<string> {
  const { updates, options } = readReport(lines);
  try {
    return formatAnswer(await rules.moved(updates, options), 'accept');
  } catch (error) {
    rules.failed(error);
    return formatAnswer(
      ['GitLab: The push has happened, but an internal error prevented what should follow.'],
      'accept',
    );
  }
}

/** Refs that keep commits for the server: refs of merge requests, environments and pipelines, and internal ones. */
const reserved = /^refs\/(?:keep-around|merge-requests|environments|pipelines|tmp|coppice)(?:\/|$)/;

/** Notes and other refs may be pushed beside branches and tags. A ref with an invalid name can still be deleted, since imported repositories may contain some. */
function mayBePushed(ref: string, target: string | null): boolean {
  const [, kind, name = ''] = /^refs\/(?:(heads|tags)\/)?(.+)$/.exec(ref) ?? [];
  if (name === '' || reserved.test(ref)) return false;
  return target === null || (kind === 'heads' ? isValidBranchName(name) : isValidTagName(name));
}

function readReport(lines: string[]): { updates: RefUpdate[]; options: string[] } {
  const options = lines
    .filter((line) => line.startsWith('option '))
    .map((line) => Buffer.from(line.slice(7), 'hex').toString('utf8'));
  const updates = lines
    .filter((line) => line.startsWith('ref '))
    .map((line) => {
      const [, old = '', target = ''] = line.split(' ', 3);
      return { ref: line.slice(6 + old.length + target.length), old: idOrNull(old), new: idOrNull(target) };
    });
  return { updates, options };
}

const idOrNull = (id: string): string | null => (/^0+$/.test(id) ? null : id);

/** A text may have several lines; each is sent to the client as a line. */
const formatAnswer = (texts: string[], verdict: 'accept' | 'refuse'): string =>
  [...texts.flatMap((text) => text.split(/\r?\n/)).map((line) => `:${line}`), verdict, ''].join('\n');
