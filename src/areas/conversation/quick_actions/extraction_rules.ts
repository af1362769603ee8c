/** Extracting commands from a text. */
import { inSlices, linesOf, type Steps } from '../../../markdown/index.ts';
import { isCommand, type Taken } from './commands.ts';

export interface Command {
  /** As written, in lower case; a command may have several names. */
  name: string;
  /** The rest of the line, trimmed; may be empty. */
  argument: string;
}

export interface Extraction {
  /** The text without its commands; empty if it consisted only of commands. */
  text: string;
  commands: Command[];
}

/** The maximum number of commands in a text, because each may query the database; further ones are treated as text. */
const maximumCommands = 100;

const commandLine = /^\/([a-z_]+)(?:[ \t]+(.*))?$/i;

/** The drawings that replace commands. */
const drawings: Readonly<Record<string, string>> = {
  shrug: '¯\\＿(ツ)＿/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
};

/**
 * Extracts the commands from a text: lines that start with `/` and a command name, outside code and quotations. Other lines stay as they are, except that
 * `/shrug` and `/tableflip` become drawings.
 * @param taken the commands of the target of the text
 */
export const extractCommands = (text: string, taken: Taken): Promise<Extraction> => inSlices(extraction(text, taken));

function* extraction(text: string, taken: Taken): Steps<Extraction> {
  const commands: Command[] = [];
  const kept: string[] = [];
  let isChanged = false;
  for (const line of linesOf(text)) {
    yield;
    const [, word = '', rest = ''] = line.in_code || line.quoted ? [] : (commandLine.exec(line.text.trimEnd()) ?? []);
    const [name, argument] = [word.toLowerCase(), rest.trim()];
    if (Object.hasOwn(drawings, name)) {
      kept.push(argument === '' ? drawings[name]! : `${argument} ${drawings[name]!}`);
      isChanged = true;
    } else if (isCommand(name, taken) && commands.length < maximumCommands) commands.push({ name, argument });
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
