/** Snippets as a noteable: what comments and reactions need of them. */
import { snippetKind } from '../../../access/index.ts';
import { eventSnippets } from './event_queries.ts';
import { snippetHook } from './hook_queries.ts';
import { snippetMail } from './mail_queries.ts';

export const snippetNoun = { kind: snippetKind, event: eventSnippets, hook: snippetHook, mail: snippetMail };
