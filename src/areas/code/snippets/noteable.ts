/** Snippets as a noun: its description for the engines of comments, events, webhooks and mail (docs/adding_a_noun.md). */
import { snippetKind } from '../../../access/index.ts';
import { eventSnippets } from './event_queries.ts';
import { snippetHook } from './hook_present.ts';
import { snippetMail } from './mail_queries.ts';

export const snippetNoun = { kind: snippetKind, event: eventSnippets, hook: snippetHook, mail: snippetMail };
