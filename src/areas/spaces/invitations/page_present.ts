/** Texts of the pages of invitations. */
import { groupPage, projectPage } from '../../../access/index.ts';
import type { Field, HtmlPage, HtmlPart, RefusedForm } from '../../../pages/index.ts';
import type { Outcome } from './acceptance_actions.ts';
import { factsOf, type OpenInvitation } from './queries.ts';

/** The page for a link that does not work, whatever the reason. */
export const gonePage: HtmlPage = {
  title: 'Page not found',
  parts: ['This invitation does not exist. It may have been answered, revoked, or expired.'],
};

/**
 * The page of an invitation, with the forms to accept and decline it.
 * @param action the path of the page
 * @param withSignUp whether people can create an account
 * @param signedInAs the username of whoever is signed in
 * @param refused a form of the page that was refused
 */
export function invitationPage(
  invitation: OpenInvitation,
  {
    action,
    withSignUp,
    signedInAs,
    refused,
  }: { action: string; withSignUp: boolean; signedInAs: string | undefined; refused?: RefusedForm | undefined },
): HtmlPage {
  const { inviter, place, invite_email } = invitation;
  const inputs = (form: string, fields: readonly Field[]) => ({
    form,
    fields: fields.map((field): Field => ({ ...field, is_required: true })),
    refused: refused?.name === form ? refused : undefined,
  });
  const signUp: HtmlPart[] = [
    `No account yet? Create one with the email address ${invite_email}.`,
    {
      button: 'Create an account and accept',
      action: `${action}/sign_up`,
      inputs: inputs('sign_up', [
        { name: 'username', label: 'Username', autocomplete: 'username' },
        { name: 'name', label: 'Name', autocomplete: 'name' },
        { name: 'password', label: 'Password', kind: 'password', autocomplete: 'new-password' },
      ]),
    },
  ];
  const asVisitor: HtmlPart[] =
    signedInAs === undefined ? [] : [{ button: `Accept as @${signedInAs}`, action: `${action}/accept` }];
  return {
    title: `Invitation to ${place}`,
    parts: [
      `${inviter} has invited ${invite_email} to join ${place}.`,
      factsOf(invitation),
      ...asVisitor,
      `Sign in to accept the invitation. ${invite_email} must be a confirmed email address of your account.`,
      {
        button: 'Sign in and accept',
        action: `${action}/accept`,
        inputs: inputs('accept', [
          { name: 'login', label: 'Username or email address', autocomplete: 'username' },
          { name: 'password', label: 'Password', kind: 'password', autocomplete: 'current-password' },
        ]),
      },
      ...(withSignUp ? signUp : []),
      { button: 'Decline', action: `${action}/decline`, look: 'danger' },
    ],
  };
}

/** The page for an account that has not confirmed the invited address. */
export const foreignPage = ({ invite_email }: OpenInvitation): HtmlPage => ({
  title: 'Invitation not accepted',
  parts: [
    `This invitation is for ${invite_email}, which is not a confirmed email address of your account.`,
    `To accept it, add ${invite_email} to your account and confirm the address.`,
  ],
});

const outcomes: Record<Outcome, { title: string; text: (place: string, inviter: string) => string }> = {
  joined: { title: 'Invitation accepted', text: (place) => `You are now a member of ${place}.` },
  known: {
    title: 'Already a member',
    text: (place) => `You already have access to ${place}. Your role has not changed.`,
  },
  queued: {
    title: 'Waiting for approval',
    text: (place) => `An administrator must approve your access to ${place}.`,
  },
  'no seat': {
    title: 'Invitation not accepted',
    text: (place) =>
      `No seats are available on this server. Ask an owner of ${place} for help. You can still accept the invitation later.`,
  },
  locked: {
    title: 'Invitation not accepted',
    text: (place) => `${place} does not accept new members at the moment. You can still accept the invitation later.`,
  },
  'inviter gone': {
    title: 'Invitation no longer valid',
    text: (place, inviter) =>
      `The account of ${inviter} is no longer active. Ask an owner of ${place} for a new invitation.`,
  },
  'inviter demoted': {
    title: 'Invitation no longer valid',
    text: (place, inviter) =>
      `${inviter} can no longer give this role in ${place}. Ask an owner of ${place} for a new invitation.`,
  },
};

/** The path of the page of the group or project. */
export const placePage = ({ group_id, full_path }: OpenInvitation): string =>
  group_id === null ? projectPage(full_path) : groupPage(full_path);

/** The page after accepting an invitation. Members continue to the group or project. */
export const outcomePage = (invitation: OpenInvitation, outcome: Outcome): HtmlPage => ({
  title: outcomes[outcome].title,
  parts: [
    outcomes[outcome].text(invitation.place, invitation.inviter ?? 'the person who invited you'),
    ...(outcome === 'joined' || outcome === 'known'
      ? [{ link: `Open ${invitation.place}`, url: placePage(invitation) }]
      : []),
  ],
});

/**
 * The page for the decline link in the mail.
 * @param action the path of the page of the invitation
 */
export const decliningPage = ({ place, invite_email }: OpenInvitation, action: string): HtmlPage => ({
  title: `Decline the invitation to ${place}?`,
  parts: [
    `The invitation is for ${invite_email}. Nobody can accept it afterwards.`,
    { button: 'Decline', action: `${action}/decline`, look: 'danger' },
    { link: 'Back to the invitation', url: action },
  ],
});

/** The page after declining an invitation. */
export const declinedPage = ({ place, inviter }: OpenInvitation): HtmlPage => ({
  title: 'Invitation declined',
  parts: [
    inviter === null ? `You declined to join ${place}.` : `You declined to join ${place}. We've let ${inviter} know.`,
  ],
});

/** @param back the path of the page of the invitation */
export const refusalPage = (reason: string, back: string): HtmlPage => ({
  title: 'Invitation not accepted',
  parts: [reason, { link: 'Back to the invitation', url: back }],
});
