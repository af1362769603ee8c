/** All experiments, ordered by name. Each is a file of this folder, named after it. */
import { invitation_mail_preview } from './invitation_mail_preview.ts';

export const definitions = [invitation_mail_preview];
