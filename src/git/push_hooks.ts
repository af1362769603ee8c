/** The server's end of the conversation with the hooks of a push. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isValidBranchName, isValidTagName } from './ref_names.ts';
import type { Environment, Push, RefUpdate } from './types.ts';

/** What the rest of the product says to a push. */
export interface PushRules {
  /** Texts that refuse the push, each shown to the client as `remote: GitLab: <text>`; none accepts it. Nothing has moved yet. */
  check(push: Push): Promise<string[]>;
  /** Told what has moved. Its texts are shown to the client as they are, `remote: <text>`. */
  moved(updates: RefUpdate[], options: string[]): Promise<string[]>;
  /** Told of an error that `check` (the push was refused) or `moved` (it had already happened) threw. */
  failed(error: unknown): void;
}

export const hooks_folder = fileURLToPath(new URL('hooks', import.meta.url));
/** Half a million refs; a push that names more is no push. */
const longest_report = 64 * 1024 * 1024;

/** Throws when the system would not run the hooks: git would then let every push pass, with no more than a hint. */
export async function checkHooks(): Promise<void> {
  await Promise.all(['pre-receive', 'post-receive'].map((name) => access(`${hooks_folder}/${name}`, constants.X_OK)));
}

/** Listens to the hooks on a channel and answers them. `onAccept` is called before the hook hears that refs may move. */
export function converse(channel: Duplex, rules: PushRules, onAccept: () => void): void {
  let heard = '';
  channel.setEncoding('utf8');
  channel.on('error', () => {}); // The other end died; the exit code of git tells.
  channel.on('data', (chunk: string) => {
    heard += chunk;
    if (heard.length > longest_report) channel.destroy();
    // Every line that a client can influence has a word before it, so none of them looks like the last one.
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
    // A push that only removes refs brings no objects and has no quarantine.
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
    return formatAnswer(['GitLab: The push has happened, but an internal error prevented what should follow.'], 'accept');
  }
}

/** Every other namespace is ours. A name that may not be given may still be removed, for histories that came from elsewhere. */
function mayBePushed(ref: string, target: string | null): boolean {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (!kind) return false;
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

/** A text may have several lines; each reaches the client as one. */
const formatAnswer = (texts: string[], verdict: 'accept' | 'refuse'): string =>
  [...texts.flatMap((text) => text.split(/\r?\n/)).map((line) => `:${line}`), verdict, ''].join('\n');
