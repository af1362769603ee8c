/** Finding commands in a text. */
import { linesOf } from '../../../markdown/index.ts';
import { isCommand } from './commands.ts';
import type { Commandable } from './definition.ts';

export interface Command {
  /** As it is written, in lower case; a command may have several names. */
  name: string;
  /** The rest of the line without blanks around it, empty when there is none. */
  argument: string;
}

export interface Extraction {
  /** What is left of the text without its commands; empty when they were all of it. */
  text: string;
  commands: Command[];
}

/** Each may ask the database, so that one text has no more of them; what looks like a further one is text. */
const mostCommands = 100;

const commandLine = /^\/([a-z_]+)(?:[ \t]+(.*))?$/i;

/** What stands in the text in the place of the word. */
const drawings: Readonly<Record<string, string>> = {
  shrug: '¯\\＿(ツ)＿/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
};

/**
 * Takes the commands out of a text: lines that begin with `/` and the name of one, outside of code and quotations. Any other line stays as it is, except that
 * `/shrug` and `/tableflip` are drawn.
 * @param noun what the text is written on
 */
export function extractCommands(text: string, noun: Pick<Commandable, 'commands'>): Extraction {
  const commands: Command[] = [];
  const kept: string[] = [];
  let isChanged = false;
  for (const line of linesOf(text)) {
    const [, word = '', rest = ''] = line.in_code || line.quoted ? [] : (commandLine.exec(line.text.trimEnd()) ?? []);
    const [name, argument] = [word.toLowerCase(), rest.trim()];
    if (Object.hasOwn(drawings, name)) {
      kept.push(argument === '' ? drawings[name]! : `${argument} ${drawings[name]!}`);
      isChanged = true;
    } else if (isCommand(name, noun) && commands.length < mostCommands) commands.push({ name, argument });
    else kept.push(line.text);
  }
  if (commands.length === 0 && !isChanged) return { text, commands };
  return {
    text: kept
      .join('\n')
      .replace(/^(?:[ \t]*\n)+/, '')
      .trimEnd(),
    commands,
  };
}
