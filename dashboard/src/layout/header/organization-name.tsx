/** The organization's name, or a menu to switch if the user belongs to several. */
import { ChevronsUpDown } from 'lucide-react';
import { useLocation } from 'wouter';
import { useOrganizations } from '../../api/session.js';
import type { Organization } from '../../api/types.js';
import { Picker } from '../../components/overlays/picker.js';
import { remember } from '../../preferences/local-storage.js';

export function OrganizationName({ organization }: { organization: Organization }) {
  const organizations = useOrganizations();
  const [, navigate] = useLocation();
  if (organizations.length < 2) return <p className="navigation-name">{organization.name}</p>;
  return (
    <Picker
      label="Switch organization"
      options={organizations.map(({ id, name, role }) => ({ value: id, label: name, note: role }))}
      value={organization.id}
      onChange={(id) => {
        remember('organization', id);
        remember('project', null);
        navigate('/');
      }}
      button={(props) => (
        <button {...props} type="button" className="navigation-link">
          <span className="who-name">{organization.name}</span>
          <ChevronsUpDown aria-hidden />
          <span className="out-of-sight">Switch organization</span>
        </button>
      )}
    />
  );
}
