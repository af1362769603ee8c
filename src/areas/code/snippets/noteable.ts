/** Snippets as a noteable: what comments and reactions need of them. */
import { snippetKind } from '../../../access/index.ts';
import { snippetHook } from './hook_queries.ts';
import { snippetMail } from './mail_queries.ts';

export const snippetNoun = { kind: snippetKind, hook: snippetHook, mail: snippetMail };
