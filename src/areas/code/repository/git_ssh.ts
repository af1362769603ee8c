/** Git over SSH: clone, fetch, push, and the credentials of large files (docs/reference/ssh.md). */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { addressRefused, callerOfSshKey, reachOf, sshKeyOf } from '../../../access/index.ts';
import { workFor } from '../../../foundation/clients.ts';
import { receivePack, type Service, uploadPack } from '../../../git/index.ts';
import { ApiError, type Caller, messageOf, type Services } from '../../../http/index.ts';
import type { SshCommand, SshServerOptions } from '../../../ssh/index.ts';
import { grantLfs } from '../lfs/access.ts';
import { sshCredential } from '../lfs/batch_actions.ts';
import type { GitKind } from './definition.ts';
import { grantGit, grantPush, MovedGit, refuseEarly, repositoryFor, unservedRefusal } from './owners/git_access.ts';
import { type PushLog, pushRulesFor } from './push_actions.ts';
import { printRecoveryCodes } from './recovery_ssh.ts';
import { refusal } from './rules.ts';

const maximumLine = 10_000;

/** The words of a command line as quoted by clients: in single quotes, or with a backslash before a character. */
function wordsOf(line: string): string[] {
  if (line.length > maximumLine) throw refusal(400, 'The command is too long.');
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replaceAll(/'([^']*)'|\\(.)/g, '$1$2'));
}

/** The full path of a project or a snippet, from a path in a URL or in scp syntax. */
const repositoryPath = (word = ''): string => word.replace(/^\/+/, '').replace(/(?:\.git)?\/*$/, '');

/** A request that another site serves. */
export interface ServedElsewhere {
  key_id: number;
  /** Without `.git`. */
  path: string;
  command: SshCommand;
}

/** Passes requests on to another site. */
export interface Elsewhere {
  push(served: ServedElsewhere): Promise<void>;
  /** @returns false if this site has to serve it itself */
  fetch(served: ServedElsewhere): Promise<boolean>;
}

interface Serving {
  services: Services;
  /** The kinds of served repositories, as in `grantGit`. */
  kinds: readonly GitKind[];
  /** Set if this site does not accept pushes. */
  elsewhere?: Elsewhere | undefined;
  /** Receives the errors of the server. */
  log: PushLog;
}

/** A request of a caller, with the words after the command. */
interface GitCommand extends Serving {
  caller: Caller;
  words: string[];
  command: SshCommand;
}

/** Grants a project under its present path. A client that uses a former path is warned, because SSH has no redirects. */
async function following<T>({ words, command }: GitCommand, grant: (path: string) => Promise<T>): Promise<T> {
  try {
    return await grant(repositoryPath(words[0]));
  } catch (error) {
    if (!(error instanceof MovedGit)) throw error;
    command.channel.stderr.write(`${messageOf(error)} Update the address of your remote.\n`);
    return grant(error.full_path);
  }
}

const conversationOf = ({ channel, protocol, signal, source }: SshCommand) => ({
  input: channel,
  protocol,
  signal,
  client: source,
  is_conversation: true,
});

/** Rejects if the client disconnects before the end, which stops git. */
async function send({ command: { channel } }: GitCommand, stream: Readable): Promise<void> {
  stream.pipe(channel, { end: false });
  await finished(stream);
}

const servedElsewhere = ({ caller, words, command }: GitCommand): ServedElsewhere => ({
  key_id: caller.token.id,
  path: repositoryPath(words[0]),
  command,
});

async function fetching(asked: GitCommand): Promise<void> {
  const { services, kinds, caller, command, elsewhere } = asked;
  if (await elsewhere?.fetch(servedElsewhere(asked))) return;
  const granted = await following(asked, (path) =>
    grantGit(services, kinds, { caller, path, service: 'git-upload-pack' }),
  );
  await send(asked, uploadPack(await repositoryFor(services, granted), conversationOf(command)));
}

async function pushing(asked: GitCommand): Promise<void> {
  const { services, kinds, caller, command, log, elsewhere } = asked;
  if (elsewhere) return elsewhere.push(servedElsewhere(asked));
  const granted = await following(asked, (path) => grantPush(services, kinds, { caller, path }));
  await refuseEarly(services, granted);
  const repository = await repositoryFor(services, granted);
  const { rules, ended } = pushRulesFor(services, granted, log);
  await send(asked, await receivePack(repository, { ...conversationOf(command), ...rules }));
  await ended();
}

async function authenticatingLargeFiles(asked: GitCommand): Promise<void> {
  const { services, caller, words, command } = asked;
  const operation = words[1];
  if (operation !== 'download' && operation !== 'upload')
    throw refusal(400, 'The operation must be download or upload.');
  const { project } = await grantLfs(services, caller, { path: repositoryPath(words[0]), operation });
  command.channel.write(`${JSON.stringify(await sshCredential(services, { project, caller }, operation))}\n`);
}

const commands: Readonly<
  Record<Service | 'git-lfs-authenticate' | '2fa_recovery_codes', (asked: GitCommand) => Promise<void>>
> = {
  'git-upload-pack': fetching,
  'git-receive-pack': pushing,
  'git-lfs-authenticate': authenticatingLargeFiles,
  '2fa_recovery_codes': ({ services, caller, command }) => printRecoveryCodes(services, caller, command),
};

const isCommand = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name);

/** @throws ApiError if the caller lacks the right */
async function run(serving: Serving, key_id: number, command: SshCommand): Promise<void> {
  const reach = await reachOf(serving.services.db, command.address);
  if (!reach.is_admitted) throw addressRefused();
  const caller = await callerOfSshKey(serving.services, key_id);
  if (command.line === undefined) {
    command.channel.write(`Welcome to Coppice, @${caller.username}!\r\n`);
    return;
  }
  const { line, source } = command;
  const { hidden_groups } = reach;
  const client = { source, person: caller.id, address: command.address, hidden_groups };
  await workFor(client, () => served({ ...serving, caller, command }, line));
}

async function served(asked: Omit<GitCommand, 'words'>, line: string): Promise<void> {
  const [name = '', ...words] = wordsOf(line.replace(/^git /, 'git-'));
  if (!isCommand(name)) throw refusal(403, "The command you're trying to execute is not allowed.");
  await commands[name]({ ...asked, words });
}

/** The options of the SSH server: users are identified by the keys of their accounts, and have the same access as over HTTP. */
export const gitOverSsh = (serving: Serving): Pick<SshServerOptions<number>, 'identify' | 'run' | 'failed'> => ({
  identify: (key) => sshKeyOf(serving.services, key),
  failed: (error) => serving.log.error({ err: error }, 'an SSH connection met an error'),
  async run(key_id, command) {
    try {
      await run(serving, key_id, command);
      return 0;
    } catch (error) {
      if (command.signal.aborted) return 1;
      const refused = unservedRefusal(error) ?? error;
      if (!(refused instanceof ApiError)) throw error;
      command.channel.stderr.write(`ERROR: ${messageOf(refused).replace('Forbidden - ', '')}\n`);
      return 1;
    }
  },
});
