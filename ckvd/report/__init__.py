"""What people and programs are shown: rows → frozen values → text or JSON."""
