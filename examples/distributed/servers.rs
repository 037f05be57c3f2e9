//! Devices of other processes: this program, started again as a server.

use std::{
    error::Error,
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use burn::{
    remote::RemoteHost,
    server::{RemoteServer, WebSocketTransport},
    tensor::Device,
};

/// Serves this process's processor until it is killed, on a free port, which it prints.
pub fn serve() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    RemoteServer::new([Device::flex()]).serve(WebSocketTransport::from_listener(listener))?;
    Ok(())
}

/// Running servers, which end with this value.
pub struct Servers {
    children: Vec<Child>,
    ports: Vec<u16>,
}

impl Servers {
    pub fn start(count: usize) -> Result<Self, Box<dyn Error>> {
        let mut servers = Self {
            children: Vec::new(),
            ports: Vec::new(),
        };
        for _ in 0..count {
            let mut child = Command::new(std::env::current_exe()?)
                .arg("--serve")
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            let stdout = child.stdout.take();
            servers.children.push(child);
            let mut port = String::new();
            BufReader::new(stdout.ok_or("a server without output")?).read_line(&mut port)?;
            servers.ports.push(port.trim().parse()?);
        }
        Ok(servers)
    }

    pub fn urls(&self) -> Vec<String> {
        let url = |port| format!("ws://127.0.0.1:{port}");
        self.ports.iter().map(url).collect()
    }

    /// The device of each, with gradients.
    pub fn devices(&self) -> Result<Vec<Device>, Box<dyn Error>> {
        let connect = |url: &String| -> Result<Device, Box<dyn Error>> {
            let host = RemoteHost::websocket(url);
            Ok(Device::remote_options(&host).init()?.autodiff())
        };
        self.urls().iter().map(connect).collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
