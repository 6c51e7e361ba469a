/** The members and invitations of an organization. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invitationToJson, keyToJson, memberToJson } from '../../../app/json.js';
import { dismissMember, endMemberSessions, inviteMember } from '../../../app/members.js';
import { type MailResult, mailLink } from '../../../app/notifications/link-mail.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { invitationMailsMax, invitationMailsWindowSeconds } from '../../../domain/limits.js';
import type { Actor } from '../../../domain/people/audit.js';
import type { Invitation } from '../../../domain/people/invitation.js';
import { parseRights, type Rights, type Role, toEmail } from '../../../domain/people/member.js';
import { prefixProblems, quote } from '../../../domain/result.js';
import { email, invalid, optional, readFields, role, texts } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import { sendLists, writeList } from '../../routes/lists.js';
import { takeAttempt } from '../attempts.js';
import type { Dashboard } from '../context.js';
import { created } from '../requests.js';
import type {
  CreatedInvitationResponse,
  DismissalResponse,
  EndedSessionsResponse,
  MemberResponse,
} from '../responses.js';

export function addMembers(
  app: FastifyInstance,
  { store, users, sessionGuard, authProvider }: Dashboard,
): void {
  sessionGuard.addMemberResource(app, '/members', 'owner', {
    GET: ({ organizationId, user, rights }, request, reply) =>
      sendLists({ request, reply, owner: organizationId }, async () => {
        const members = await store.directory.listMembers(organizationId);
        const found = await store.directory.findUsers(
          members.map((one) => one.email),
          organizationId,
        );
        const listed = members.map(
          (one): MemberResponse => ({
            ...memberToJson(one),
            name: found.get(one.email)?.name ?? null,
            // What would help somebody who attacks members is for owners only.
            secondFactor: rights.role === 'owner' ? found.get(one.email)?.secondFactor === true : null,
            you: one.email === user.email,
          }),
        );
        return writeList({ members: listed }, 'members');
      }),
  });
  sessionGuard.addMemberResource(app, '/members/:email', 'owner', {
    PATCH: async ({ organizationId, by }, request) => {
      const rights = readRights(readFields(request, RIGHTS));
      return dismiss({ organizationId, email: getMember(request), rights }, by);
    },
    DELETE: ({ organizationId, by }, request) =>
      dismiss({ organizationId, email: getMember(request), rights: null }, by),
  });
  sessionGuard.addMemberResource(app, '/members/:email/end-sessions', 'owner', {
    POST: async ({ organizationId, by }, request): Promise<EndedSessionsResponse> => {
      readFields(request, {});
      const ended = await endMemberSessions(
        { store, users },
        { organizationId, email: getMember(request), isOperator: false },
        by,
      );
      authProvider.log.count('session_end');
      return { ended };
    },
  });

  async function dismiss(
    change: Omit<Parameters<typeof dismissMember>[1], 'revokeKeys'>,
    by: Actor,
  ): Promise<DismissalResponse> {
    const keys = await dismissMember(store, { ...change, revokeKeys: false }, by);
    return { keys: keys.map((key) => keyToJson(key, by.at)) };
  }
}

export function addInvitations(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, clock, sessionGuard, randomInt } = dashboard;
  sessionGuard.addMemberResource(app, '/invitations', 'owner', {
    GET: ({ organizationId }, request, reply) =>
      sendLists({ request, reply, owner: organizationId }, async () => {
        const invitations = await store.directory.listInvitations(organizationId, clock.now());
        return writeList({ invitations: invitations.map(invitationToJson) }, 'invitations');
      }),
    POST: async ({ organizationId, by }, request, reply) => {
      const { email: invited, ...given } = readFields(request, { email, ...RIGHTS });
      const wanted = { organizationId, email: invited, ...readRights(given) };
      const { invitation, token } = await inviteMember({ store, randomInt }, wanted, by);
      const mail = await mailInvitation(dashboard, { ...invitation, email: invited }, token);
      const response: CreatedInvitationResponse = { invitation: invitationToJson(invitation), token, mail };
      return created(reply, response);
    },
  });
  sessionGuard.addMemberResource(app, '/invitations/:invitationId', 'owner', {
    DELETE: ({ organizationId, by }, request) =>
      store.directory.revokeInvitation(organizationId, getParameter(request, 'invitationId'), by),
  });
}

/** Sends the link of an invitation, if the server sends e-mail and knows its address. Above a limit, only the page shows it. */
async function mailInvitation(
  { store, clock, notifications: { channels, pagesUrl } }: Dashboard,
  invitation: Invitation & { readonly email: string },
  token: string,
): Promise<MailResult> {
  if (!channels.sendsEmail) return { problem: 'the server needs CALLER_STATS_SMTP_URL for it' };
  if (pagesUrl === undefined) return { problem: 'the server needs CALLER_STATS_PUBLIC_URL for it' };
  const { id, email: to, organizationId } = invitation;
  return mailLink(
    async (mail) => {
      await takeAttempt(store.throttles, clock.now(), {
        subject: `invitation mails of ${organizationId}`,
        attemptsMax: invitationMailsMax,
        windowSeconds: invitationMailsWindowSeconds,
        message: `at most ${invitationMailsMax} invitations an hour are sent by e-mail`,
      });
      await channels.sendMail(mail);
    },
    { id, to, pagesUrl, link: `${pagesUrl}/join#${token}`, invitation },
  );
}

const RIGHTS = { role, projects: optional(texts) };

function readRights(given: {
  readonly role: Role;
  readonly projects: readonly string[] | undefined;
}): Rights {
  const rights = prefixProblems('projects', parseRights(given.role, given.projects));
  if (!rights.ok) throw invalid(rights.problems);
  return rights.value;
}

function getMember(request: FastifyRequest): string {
  const text = getParameter(request, 'email');
  const member = toEmail(text);
  if (member === undefined) throw new CallerStatsError('not_found', `${quote(text)} is not a member.`);
  return member;
}
